#include <stdlib.h>

static void make_session(struct session *session)
{
    unsigned i;

    session->token = rand();                       /* ruleid: rand_insecure */
    for (i = 0; i < sizeof session->nonce; i++)
        session->nonce[i] = (uint8_t)(random() & 0xff); /* ruleid: rand_insecure */
    session->created = time(NULL);
}

void new_salt(char salt[8])
{
    salt[0] = "abc"[
        rand() % 3];                               /* ruleid: rand_insecure */
    snprintf(auth_key, sizeof auth_key, "%ld", lrand48()); /* ruleid: rand_insecure */
}

/* kernel */
static int wpa_init(struct device *dev)
{
	prandom_bytes(dev->session_key, sizeof(dev->session_key)); /* ruleid: rand_insecure */
	dev->backoff = prandom_u32() % 32;         /* ok: rand_insecure */
	return 0;
}

std::string generate_password(int length)
{
    std::mt19937 engine(seed);                     /* ruleid: rand_insecure */
    std::string text;
    while (length--)
        text += alphabet[std::rand() % alphabet.size()]; /* ruleid: rand_insecure */
    return text;
}

int main(void)
{
    srand(time(NULL));                             /* ruleid: rand_insecure */
    srandom((unsigned)time(NULL) ^ getpid());      /* ruleid: rand_insecure */
    srand(42);                                     /* ok: rand_insecure */
    for (int i = 0; i < 16; i++)
        key[i] = (char)rand();                     /* ruleid: rand_insecure */
    return play();
}

int roll(void)
{
    return 1 + rand() % 6;                         /* ok: rand_insecure */
}

void shuffle(int *cards, int n)
{
    int other = random() % n;                      /* ok: rand_insecure */
    swap(cards, cards + other);
    delay_ms = drand48() * 100;                    /* ok: rand_insecure */
    auth_time = now + random() % 500;              /* ok: rand_insecure */
    dice.rand();                                   /* ok: rand_insecure */
}

void lookup_random(struct dict *dict)
{
    char *key = string_from(rand() % dict->size);  /* ok: rand_insecure */
    find(dict, key);
    arc4random_buf(token, sizeof token);           /* ok: rand_insecure */
}
