-- The roles of a new database, without its tables: jarvis admin roles (a test compares them).
BEGIN;
SET LOCAL client_min_messages = warning;
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'jarvis_owner') THEN CREATE ROLE "jarvis_owner" LOGIN; END IF;
END $$;
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'jarvis_worker') THEN CREATE ROLE "jarvis_worker" LOGIN; END IF;
END $$;
CREATE TABLE IF NOT EXISTS public.alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
ALTER TABLE IF EXISTS public."alembic_version" OWNER TO "jarvis_owner";
DO $$ BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC, "jarvis_worker"', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO "jarvis_owner", "jarvis_worker"', current_database());
END $$;
REVOKE ALL ON SCHEMA public FROM PUBLIC, "jarvis_worker";
GRANT USAGE, CREATE ON SCHEMA public TO "jarvis_owner";
GRANT USAGE ON SCHEMA public TO "jarvis_worker";
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, "jarvis_worker";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "jarvis_worker";
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO "jarvis_worker";
ALTER DEFAULT PRIVILEGES FOR ROLE "jarvis_owner" IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "jarvis_worker";
ALTER DEFAULT PRIVILEGES FOR ROLE "jarvis_owner" IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO "jarvis_worker";
REVOKE INSERT, UPDATE, DELETE ON public.alembic_version FROM "jarvis_worker";
DO $$ DECLARE made regprocedure; BEGIN
    FOR made IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
        AND proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_import', 'lo_put', 'lowrite')
    LOOP EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC, "jarvis_worker"', made); END LOOP;
END $$;
COMMIT;
