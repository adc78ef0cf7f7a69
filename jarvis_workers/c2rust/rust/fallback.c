void jv_fallback(void) { __builtin_trap(); }

#ifdef __x86_64__
#define BRANCH "jmp jvr_"
#define TABLE "@PLT"
#else
#define BRANCH "b jvr_"
#define TABLE ""
#endif
#define TRAP(name) __asm__(".globl " name "\n.set " name ", jv_fallback");
#define JUMP(name) __asm__(".text\n.globl " name "\n.type " name ", %function\n" name ": " BRANCH name TABLE);

