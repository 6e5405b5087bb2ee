-- What must be there before the first numbered migration: the two group roles,
-- the schema and the record of what was applied. Run once per database, by a
-- login that may create roles; every part is skipped where it exists.
--
-- cyberos_owner   owns everything here; nobody logs in as it.
-- cyberos_bridge  what the bridge's login is a member of: it owns nothing.

do $$
begin
  if to_regrole('cyberos_owner') is null then
    create role cyberos_owner nologin noinherit;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this cluster, at this moment
end $$;

do $$
begin
  if to_regrole('cyberos_bridge') is null then
    create role cyberos_bridge nologin noinherit;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

do $$
declare
  -- From 16 on being a member and being allowed to act as the role are two things.
  v_right text := case when current_setting('server_version_num')::integer >= 160000 then 'set' else 'member' end;
begin
  if not pg_has_role(current_user, 'cyberos_owner', v_right) then
    execute format('grant cyberos_owner to %I', current_user);
  end if;
end $$;

create schema if not exists plugin_host authorization cyberos_owner;

select set_config('role', 'cyberos_owner', true);

create table if not exists plugin_host.migrations (
  version integer primary key check (version > 0),
  name text not null,
  checksum text not null check (checksum ~ '^[0-9a-f]{64}$'),
  applied_at timestamptz not null default now()
);

revoke all on schema plugin_host from public;
revoke all on plugin_host.migrations from public;
grant usage on schema plugin_host to cyberos_bridge;
grant select on plugin_host.migrations to cyberos_bridge;
