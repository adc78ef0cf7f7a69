int system(const char *);                          /* ok: command_execution */
extern FILE *popen(const char *command, const char *mode); /* ok: command_execution */
void run(int argc, char **argv)
{
    const char *fixed = "/bin/true";
    const char *chosen = argv[1];
    snprintf(cmd, sizeof cmd, "ls %s", argv[1]);
    system(cmd);                                   /* ruleid: command_execution */
    FILE *f = popen(argv[1], "r");                 /* ruleid: command_execution */
    execv(argv[0], argv);                          /* ruleid: command_execution */
    execl("/bin/sh", "sh", "-c", cmd, NULL);       /* ruleid: command_execution */
    posix_spawn(&pid, argv[1], NULL, NULL, argv, environ); /* ruleid: command_execution */
    return system(chosen);                         /* ruleid: command_execution */
    system("clear");                               /* ok: command_execution */
    system(NULL);                                  /* ok: command_execution */
    system(COMMAND " --quiet");                    /* ok: command_execution */
    system(fixed);                                 /* ok: command_execution */
    execl("/bin/ls", "ls", argv[1], NULL);         /* ok: command_execution */
    execl("/bin/sh", "sh", "-c", "ls", NULL);      /* ok: command_execution */
    file_system(cmd);                              /* ok: command_execution */
    puts("system(cmd)");                           /* ok: command_execution */
}
