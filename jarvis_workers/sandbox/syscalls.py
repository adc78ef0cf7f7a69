"""Numbers of the system calls named by the filter: name, x86_64, aarch64 (`-` where it does not exist).

Source: asm/unistd_64.h of the kernel, and asm-generic/unistd.h for aarch64.
"""

from typing import NamedTuple

# The AUDIT_ARCH value by the name that `platform.machine` returns.
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

TABLE = """
accept4:288:242 accept:43:202 acct:163:89 add_key:248:217 adjtimex:159:171 bind:49:200 bpf:321:280 chmod:90:- chown:92:-
chroot:161:51 clock_adjtime:305:266 clock_settime:227:112 clone3:435:435 clone:56:220 connect:42:203
delete_module:176:106 exit_group:231:94 fallocate:285:47 fanotify_init:300:262 fchmod:91:52 fchmodat:268:53 fchown:93:55
fchownat:260:54 fcntl:72:25 fgetxattr:193:10 finit_module:313:273 flistxattr:196:13 flock:73:32 fremovexattr:199:16
fsconfig:431:431 fsetxattr:190:7 fsmount:432:432 fsopen:430:430 fspick:433:433 futimesat:261:- getxattr:191:8
init_module:175:105 inotify_init1:294:26 inotify_init:253:- io_cancel:210:3 io_destroy:207:1 io_getevents:208:4
io_pgetevents:333:292 io_setup:206:0 io_submit:209:2 io_uring_enter:426:426 io_uring_register:427:427
io_uring_setup:425:425 ioctl:16:29 ioperm:173:- iopl:172:- ioprio_set:251:30 kcmp:312:272 kexec_file_load:320:294
kexec_load:246:104 keyctl:250:219 kill:62:129 landlock_add_rule:445:445 landlock_create_ruleset:444:444
landlock_restrict_self:446:446 lchown:94:- lgetxattr:192:9 listen:50:201 listxattr:194:11 llistxattr:195:12
lookup_dcookie:212:18 lremovexattr:198:15 lsetxattr:189:6 memfd_create:319:279 memfd_secret:447:447
migrate_pages:256:238 mmap:9:222 modify_ldt:154:- mount:165:40 mount_setattr:442:442 move_mount:429:429
move_pages:279:239 mq_open:240:180 mq_unlink:241:181 msgctl:71:187 msgget:68:186 msgrcv:70:188 msgsnd:69:189
name_to_handle_at:303:264 open:2:- open_by_handle_at:304:265 open_tree:428:428 openat2:437:437 openat:257:56
perf_event_open:298:241 personality:135:92 pidfd_getfd:438:438 pidfd_send_signal:424:424 pivot_root:155:41
prlimit64:302:261 process_madvise:440:440 process_mrelease:448:448 process_vm_readv:310:270 process_vm_writev:311:271
ptrace:101:117 quotactl:179:60 quotactl_fd:443:443 reboot:169:142 removexattr:197:14 request_key:249:218
rt_sigqueueinfo:129:138 rt_tgsigqueueinfo:297:240 sched_setaffinity:203:122 sched_setattr:314:274 sched_setparam:142:118
sched_setscheduler:144:119 seccomp:317:277 semctl:66:191 semget:64:190 semop:65:193 semtimedop:220:192 sendmmsg:307:269
sendmsg:46:211 setdomainname:171:162 sethostname:170:161 setns:308:268 setpriority:141:140 setsockopt:54:208
settimeofday:164:170 setxattr:188:5 shmat:30:196 shmctl:31:195 shmget:29:194 socket:41:198 socketpair:53:199
splice:275:76 swapoff:168:225 swapon:167:224 syslog:103:116 tee:276:77 tgkill:234:131 tkill:200:130 truncate:76:45
umount2:166:39 unshare:272:97 userfaultfd:323:282 utime:132:- utimensat:280:88 utimes:235:- vhangup:153:58
vmsplice:278:75
"""


class Architecture(NamedTuple):
    """An architecture and its system call numbers."""

    audit: int
    numbers: dict[str, int]


def machine_of(name: str) -> Architecture | None:
    """Return the architecture with the given machine name, or None if it is not supported."""
    if name not in MACHINES:
        return None
    place = 1 + list(MACHINES).index(name)
    rows = [word.split(":") for word in TABLE.split()]
    return Architecture(MACHINES[name], {row[0]: int(row[place]) for row in rows if row[place] != "-"})
