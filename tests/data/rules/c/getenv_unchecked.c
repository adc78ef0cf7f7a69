#define HOME_VARIABLE "HOME"

static char path[64];

/* GNU style: the text goes on as it is.  */
void
read_startup_file (void)
{
  char buffer[128];
  char *home = getenv ("HOME");                    /* ruleid: getenv_unchecked */
  sprintf (buffer, "%s/.startup", home);
  strcpy (path, getenv (HOME_VARIABLE));           /* ruleid: getenv_unchecked */
  if (getenv ("VERBOSE"))                          /* ok: getenv_unchecked */
    puts ("reading");
}

int run_editor(const char *file)
{
    const char *editor = getenv("EDITOR");         /* ok: getenv_unchecked */
    if (!editor)
        editor = "vi";
    return execlp(editor, editor, file, (char *)NULL);
}

int jobs(void)
{
    return atoi(getenv("JOBS"));                   /* ruleid: getenv_unchecked */
}

void first_letter(void)
{
    char *shell = (char *) /* may be missing */
        getenv("SHELL");                           /* ruleid: getenv_unchecked */
    if (shell[0] == '/')
        printf("%c", getenv("USER")[0]);           /* ruleid: getenv_unchecked */
}

void shell_of(void)
{
    std::string shell = std::getenv("SHELL");      /* ruleid: getenv_unchecked */
    const char *name = getenv("NAME");             /* ruleid: getenv_unchecked */
    if (name != NULL)
        printf(name);
}

int is_quiet(void)
{
    const char *quiet = getenv("QUIET");           /* ok: getenv_unchecked */
    return quiet != NULL && strcmp(quiet, "1") == 0;
}

const char *language(void)
{
    const char *lang;
    if ((lang = getenv("LANG")) == NULL)           /* ok: getenv_unchecked */
        return "C";
    return strdup(lang);
}

char *copy_of_term(void)
{
    char *term = getenv("TERM");                   /* ok: getenv_unchecked */
    if (term && strlen(term) < sizeof path) {
        strcpy(path, term);
        return path;
    }
    return NULL;
}

char *editor(void)
{
    return getenv("EDITOR");                       /* ok: getenv_unchecked */
}

int limited(void)
{
    char buffer[16];
    const char *size = getenv("SIZE");             /* ok: getenv_unchecked */
    if (size == NULL)
        return 0;
    snprintf(buffer, sizeof buffer, "%s", size);
    return (int)strtol(buffer, NULL, 10);
}

void with_default(struct settings *settings)
{
    const char *at = getenv("SERVER") ? getenv("SERVER") : "localhost"; /* ok: getenv_unchecked */
    settings->server = at;
    settings->getenv("SERVER");                    /* ok: getenv_unchecked */
    (void)getenv("WARM_UP");                       /* ok: getenv_unchecked */
}

void run_shell(void)
{
    char *shell, *tool;

    if ((shell = getenv("SHELL")) == NULL)         /* ok: getenv_unchecked */
        shell = "/bin/sh";
    execl(shell, shell, NULL);
    if ((tool = getenv("TOOL")) == NULL)           /* ruleid: getenv_unchecked */
        tool = "/bin/tool";
    execl(tool, tool, NULL);
}
