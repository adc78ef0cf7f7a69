#!/bin/sh
# The services of docker-compose.yml without containers, until Ctrl-C: sh deploy/local-topology.sh [DIRECTORY]
# Needs Python 3.11 or newer, PostgreSQL and Redis; Prometheus runs too where it is installed. State stays in DIRECTORY
# (.topology in this clone). Every port listens on 127.0.0.1; REDIS_PORT, WEB_PORT, FLOWER_PORT, METRICS_PORT,
# WORKER_METRICS_PORT and PROMETHEUS_PORT choose others.
set -eu
. "$(dirname -- "$0")/venv.sh"
directory=${1:-$root/.topology}
redis_port=${REDIS_PORT:-16379} web_port=${WEB_PORT:-8765} flower_port=${FLOWER_PORT:-5555}
metrics_port=${METRICS_PORT:-9464} worker_port=${WORKER_METRICS_PORT:-9465} prometheus_port=${PROMETHEUS_PORT:-9090}

postgres_bin=$(for initdb in /usr/lib/postgresql/*/bin/initdb; do dirname "$initdb"; done | sort -V | tail -n 1)
PATH=$postgres_bin:$PATH
for program in initdb redis-server; do
    command -v "$program" >/dev/null || {
        say "$program is not installed; on Debian: apt-get install postgresql redis-server prometheus"
        exit 2
    }
done
make_venv requirements-image.lock
PATH=$venv/bin:$PATH
mkdir -p "$directory/logs" "$directory/redis" "$directory/postgres" "$directory/data" "$directory/blobs"
chmod 700 "$directory/data" "$directory/blobs" "$directory/redis"
directory=$(CDPATH= cd -- "$directory" && pwd)
chmod 755 "$directory"
cd "$directory"

# PostgreSQL does not run as root.
as_postgres=
if [ "$(id -u)" = 0 ]; then
    as_postgres="runuser -u postgres --"
    chown postgres "$directory/postgres"
fi

cat >"$directory/env" <<EOF
export JARVIS_STORE_URL='postgresql:///jarvis?host=$directory/postgres&user=jarvis'
export JARVIS_BROKER_URL='redis://127.0.0.1:$redis_port/0'
export JARVIS_BLOBS_URL='$directory/blobs'
export JARVIS_DATA_DIR='$directory/data'
export PATH='$venv/bin':"\$PATH"
EOF
. "$directory/env"

cat >"$directory/prometheus.yml" <<EOF
global: {scrape_interval: 5s}
rule_files: [$root/helm/jarvis/files/alerts.yml]
scrape_configs:
  - {job_name: jarvis-metrics, static_configs: [{targets: ["127.0.0.1:$metrics_port"]}]}
  - {job_name: jarvis-workers, static_configs: [{targets: ["127.0.0.1:$worker_port"]}]}
  - {job_name: jarvis-flower, static_configs: [{targets: ["127.0.0.1:$flower_port"]}]}
EOF

processes=
start() { # name command...: in the background, logging to logs/NAME.log
    name=$1
    shift
    "$@" >>"$directory/logs/$name.log" 2>&1 &
    processes="$! $processes"
}

stop() {
    trap - EXIT INT TERM
    kill $processes 2>/dev/null || true
    # The worker releases its jobs, which takes up to 25 seconds.
    { sleep 30; kill -KILL $processes; } >/dev/null 2>&1 &
    last=$!
    wait $processes 2>/dev/null || true
    kill "$last" 2>/dev/null || true
    $as_postgres "$postgres_bin/pg_ctl" -D "$directory/postgres/data" -m fast -w stop >/dev/null 2>&1 || true
}
trap stop EXIT
trap 'exit 0' INT TERM

await() { # what command...: until the command succeeds, a minute at most
    what=$1
    shift
    for _ in $(seq 60); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 1
    done
    say "$what did not start within a minute; see $directory/logs"
    exit 1
}

if [ ! -d "$directory/postgres/data" ]; then
    say "making a database cluster in $directory/postgres"
    $as_postgres initdb -D "$directory/postgres/data" -U jarvis -A trust -E UTF8 --no-locale >"$directory/logs/initdb.log"
fi
$as_postgres "$postgres_bin/pg_ctl" -D "$directory/postgres/data" -l "$directory/postgres/log" -w \
    -o "-k $directory/postgres -c listen_addresses=" start >/dev/null
psql -h "$directory/postgres" -U jarvis -d postgres -tAc "SELECT 1 FROM pg_database WHERE datname = 'jarvis'" | grep -q 1 ||
    createdb -h "$directory/postgres" -U jarvis jarvis
start redis redis-server --bind 127.0.0.1 --port "$redis_port" --dir "$directory/redis" --appendonly yes \
    --maxmemory-policy noeviction
await Redis redis-cli -p "$redis_port" ping
jarvis admin migrate

start worker jarvis worker start --metrics-port "$worker_port" --metrics-host 127.0.0.1
start metrics jarvis metrics --port "$metrics_port"
start flower jarvis worker flower --port "$flower_port"
start web jarvis web --port "$web_port"
! command -v prometheus >/dev/null || start prometheus prometheus --config.file="$directory/prometheus.yml" \
    --storage.tsdb.path="$directory/prometheus" --web.listen-address="127.0.0.1:$prometheus_port"
await "the worker" jarvis worker healthcheck
await "the web interface" grep -q http "$directory/logs/web.log"

cat <<EOF
Everything runs until Ctrl-C; logs are in $directory/logs.

In another terminal:   . $directory/env
                       jarvis sec fast -p PATH
Web interface:         $(grep -o 'http://[^ ]*' "$directory/logs/web.log" | tail -n 1)
Flower:                http://127.0.0.1:$flower_port
Metrics:               http://127.0.0.1:$metrics_port/metrics
EOF
! command -v prometheus >/dev/null || echo "Prometheus:            http://127.0.0.1:$prometheus_port"
wait
