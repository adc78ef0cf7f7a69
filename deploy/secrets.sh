#!/bin/sh
# Write the secrets of docker-compose.yml, random passwords all: sh deploy/secrets.sh [DIRECTORY]
# Files that are there already stay. OPENAI_API_KEY, if set, becomes the key of the agents' model.
# JARVIS is the command that hashes the password of the web interface; the default needs the image.
set -eu
umask 077
directory=${1:-$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)/secrets}
mkdir -p "$directory"
cd "$directory"

random() { # 32 hexadecimal digits
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n'
}

keep() { # file: write it from standard input, unless it is there
    if [ -e "$1" ]; then cat >/dev/null; else cat >"$1.new" && mv "$1.new" "$1"; fi
}

random | keep postgres_password
random | keep postgres_owner_password
random | keep postgres_worker_password
echo "requirepass $(random)" | keep redis_conf
random | keep grafana_password
random | keep web_password
echo "admin:$(random)" | keep flower_users
printf %s "${OPENAI_API_KEY:-none}" | keep model_api_key
echo "postgresql://jarvis_owner:$(cat postgres_owner_password)@postgres:5432/jarvis" | keep store_owner_url
echo "postgresql://jarvis_worker:$(cat postgres_worker_password)@postgres:5432/jarvis" | keep store_url
echo "redis://:$(sed -n 's/^requirepass //p' redis_conf)@redis:6379/0" | keep broker_url
if [ ! -e web_users ]; then
    { cat web_password; echo; } |
        ${JARVIS:-docker run --rm -i "${JARVIS_IMAGE:-jarvis-workers}:${JARVIS_TAG:-0.1.0}"} web user admin --role editor |
        keep web_users
fi

# Containers read them as other users: the directory keeps them from the users of this machine.
chmod 700 .
chmod 644 ./*
echo "the user admin has the passwords in $directory: web_password, flower_users, grafana_password" >&2
