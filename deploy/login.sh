#!/bin/sh
# Makes or updates the bridge's own login. Runs in the PostgreSQL image, as the owner, after `migrate`.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --set password="$CYBEROS_BRIDGE_PASSWORD" <<'SQL'
SELECT 'CREATE ROLE cyberos_app' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cyberos_app') \gexec
ALTER ROLE cyberos_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'password';
GRANT cyberos_bridge TO cyberos_app;
SQL
