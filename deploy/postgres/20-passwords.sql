\set owner_password `cat /run/secrets/postgres_owner_password`
\set worker_password `cat /run/secrets/postgres_worker_password`
ALTER ROLE jarvis_owner PASSWORD :'owner_password';
ALTER ROLE jarvis_worker PASSWORD :'worker_password';
