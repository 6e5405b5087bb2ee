-- Tasks that outlive the process that started them.
--
-- Every operation of the bridge is one call of one function below, so that it
-- is one statement and one transaction. The functions run with the rights of
-- their caller (SECURITY INVOKER), and each first sets auth.tenant_id for its
-- transaction only: what row-level security then hides, the function cannot
-- reach either. None of them names the tenant in a WHERE clause: the policy is
-- the one place that decides.
--
-- Source: TASK-PLUGIN-002 §3 "Postgres schema for task persistence", decisions D6-D8.

-- The tenant of this transaction; null (which no row matches) when it is unset,
-- empty or no UUID.
create function plugin_host.current_tenant() returns uuid
language sql stable parallel safe
as $$
  select case
    when pg_catalog.current_setting('auth.tenant_id', true)
      ~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$'
    then pg_catalog.current_setting('auth.tenant_id', true)::pg_catalog.uuid
  end
$$;

create table plugin_host.tasks (
  task_id text primary key check (task_id ~ '^t-[A-Za-z0-9_-]{22,64}$'),
  tenant_id uuid not null,
  plugin_id text not null,
  tool_name text not null,
  status text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
  input jsonb not null,
  output jsonb,
  error jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  timeout_at timestamptz not null,
  trace_id char(32) not null check (trace_id ~ '^[0-9a-f]{32}$'),
  -- Whose task within the tenant, and under which key it may be asked for again.
  subject text not null,
  idempotency_key text,
  request_hash text not null,
  -- Kept until expires_at = created_at + ttl once it has ended.
  ttl_ms bigint not null check (ttl_ms > 0),
  expires_at timestamptz not null,
  poll_interval_ms integer not null,
  progress jsonb,
  -- The instance that runs it. Null once its work has ended.
  lease_owner text,
  lease_expires_at timestamptz,
  constraint tasks_ended check ((status = 'running') = (completed_at is null)),
  constraint tasks_held check (status <> 'running' or (lease_owner is not null and lease_expires_at is not null))
) with (fillfactor = 70); -- room for heartbeats to update rows in place

create index tasks_by_status on plugin_host.tasks (tenant_id, status, created_at desc);
create index tasks_by_subject on plugin_host.tasks (tenant_id, subject, created_at desc, task_id desc);
create index tasks_running on plugin_host.tasks (tenant_id, subject) where status = 'running';
create index tasks_expiring on plugin_host.tasks (tenant_id, expires_at) where status <> 'running';
create unique index tasks_by_key on plugin_host.tasks (tenant_id, subject, tool_name, idempotency_key)
  where idempotency_key is not null;

alter table plugin_host.tasks enable row level security;
alter table plugin_host.tasks force row level security;
create policy tasks_rls on plugin_host.tasks
  using (tenant_id = (select plugin_host.current_tenant()))
  with check (tenant_id = (select plugin_host.current_tenant()));
-- Rows go only when they have ended and their ttl is over, whoever deletes.
create policy tasks_kept on plugin_host.tasks as restrictive for delete
  using (status <> 'running' and expires_at <= now());

create function plugin_host.refuse_second_end() returns trigger
language plpgsql
as $$
begin
  raise exception 'A task that has ended does not change' using errcode = 'integrity_constraint_violation';
end $$;

create trigger tasks_end_once before update on plugin_host.tasks
for each row when (
  old.status <> 'running' and (
    old.status is distinct from new.status
    or old.completed_at is distinct from new.completed_at
    or old.updated_at is distinct from new.updated_at
    or old.output is distinct from new.output
    or old.error is distinct from new.error
  )
) execute function plugin_host.refuse_second_end();

-- Which tenants have something to close or to remove, and not before when. It
-- holds no task: an instance reads it to know which tenant to act for next, and
-- then acts as that tenant, bound by the policies above.
create table plugin_host.task_tenants (
  tenant_id uuid primary key,
  next_due_at timestamptz not null
) with (fillfactor = 50);

create index task_tenants_due on plugin_host.task_tenants (next_due_at);

alter table plugin_host.task_tenants enable row level security;
alter table plugin_host.task_tenants force row level security;
create policy task_tenants_read on plugin_host.task_tenants for select using (true);
create policy task_tenants_add on plugin_host.task_tenants for insert
  with check (tenant_id = (select plugin_host.current_tenant()));
create policy task_tenants_change on plugin_host.task_tenants for update
  using (tenant_id = (select plugin_host.current_tenant()))
  with check (tenant_id = (select plugin_host.current_tenant()));

-- The key that seals list cursors: made here once, so that every instance
-- accepts what another one gave. It guards no row; policies do.
create table plugin_host.settings (
  only_row boolean primary key default true check (only_row),
  cursor_key text not null
);
insert into plugin_host.settings (cursor_key)
select replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');

create function plugin_host.epoch_ms(p_at timestamptz) returns bigint
language sql immutable parallel safe
as $$ select pg_catalog.floor(extract(epoch from p_at) * 1000)::bigint $$;

-- A task as the bridge reads it. Times are epoch milliseconds.
create function plugin_host.task_view(p_task plugin_host.tasks, p_with_output boolean) returns json
language sql stable parallel safe
as $$
  select pg_catalog.json_build_object(
    'task_id', p_task.task_id,
    'tool_name', p_task.tool_name,
    'status', p_task.status,
    'output', case when p_with_output then p_task.output end,
    'error', p_task.error,
    'progress', p_task.progress,
    'created_at', plugin_host.epoch_ms(p_task.created_at),
    'updated_at', plugin_host.epoch_ms(p_task.updated_at),
    'completed_at', plugin_host.epoch_ms(p_task.completed_at),
    'ttl_ms', p_task.ttl_ms,
    'poll_interval_ms', p_task.poll_interval_ms,
    'trace_id', p_task.trace_id,
    'held', p_task.lease_owner is not null and p_task.lease_expires_at > pg_catalog.now()
  )
$$;

-- Whether a caller still sees it: a finished task is there for its ttl only.
create function plugin_host.task_is_kept(p_task plugin_host.tasks) returns boolean
language sql stable parallel safe
as $$ select p_task.status = 'running' or p_task.expires_at > pg_catalog.now() $$;

-- What one more task would break: "over" names the first limit that is reached,
-- "near" says which limits are so near that counting must not run beside another.
create function plugin_host.task_room(p_subject text, p_limits jsonb, p_margin integer) returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_running_subject bigint := (p_limits ->> 'running_per_subject')::bigint;
  v_running_tenant bigint := (p_limits ->> 'running_per_tenant')::bigint;
  v_kept_subject bigint := (p_limits ->> 'kept_per_subject')::bigint;
  v_kept_tenant bigint := (p_limits ->> 'kept_per_tenant')::bigint;
begin
  -- Counted no further than the limits, so that a full tenant costs no more.
  v_running_subject := v_running_subject - (select count(*) from (
    select from plugin_host.tasks where status = 'running' and subject = p_subject limit v_running_subject) s);
  v_running_tenant := v_running_tenant - (select count(*) from (
    select from plugin_host.tasks where status = 'running' limit v_running_tenant) s);
  v_kept_subject := v_kept_subject - (select count(*) from (
    select from plugin_host.tasks where subject = p_subject limit v_kept_subject) s);
  v_kept_tenant := v_kept_tenant - (select count(*) from (
    select from plugin_host.tasks limit v_kept_tenant) s);
  return jsonb_build_object(
    'over', case
      when v_running_subject <= 0 then 'runningPerSubject'
      when v_running_tenant <= 0 then 'runningPerTenant'
      when v_kept_subject <= 0 then 'keptPerSubject'
      when v_kept_tenant <= 0 then 'keptPerTenant'
    end,
    'near_subject', least(v_running_subject, v_kept_subject) < p_margin,
    'near_tenant', least(v_running_tenant, v_kept_tenant) < p_margin
  );
end $$;

-- Advisory locks, two keys each: what for, and the hash of whom.
--   1129926449 maintenance of a tenant (creations share it, task_maintain has it alone)
--   1129926450 admission near a limit of a subject
--   1129926451 admission near a limit of a tenant

create function plugin_host.task_create(
  p_tenant_id uuid,
  p_subject text,
  p_task_id text,
  p_plugin_id text,
  p_tool_name text,
  p_input jsonb,
  p_trace_id text,
  p_idempotency_key text,
  p_request_hash text,
  p_timeout_ms bigint,
  p_ttl_ms bigint,
  p_poll_interval_ms integer,
  p_instance_id text,
  p_lease_ms bigint,
  p_limits jsonb,
  p_again boolean
) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_task plugin_host.tasks;
  v_room jsonb;
  v_due timestamptz := now() + p_lease_ms * interval '1 ms';
begin
  perform set_config('auth.tenant_id', p_tenant_id::text, true);

  if p_idempotency_key is not null then
    select * into v_task from plugin_host.tasks
    where subject = p_subject and tool_name = p_tool_name and idempotency_key = p_idempotency_key;
    if found and plugin_host.task_is_kept(v_task) then
      return plugin_host.task_existing(v_task, p_request_hash);
    end if;
    if found then delete from plugin_host.tasks where task_id = v_task.task_id; end if;
  end if;

  if p_again then
    select * into v_task from plugin_host.tasks
    where task_id = p_task_id and subject = p_subject and lease_owner = p_instance_id;
    if found then
      return json_build_object('outcome', 'created', 'task', plugin_host.task_view(v_task, true));
    end if;
  end if;

  perform pg_advisory_xact_lock_shared(1129926449, hashtext(p_tenant_id::text));

  -- Exact near a limit: from 64 before it, creations of its subject or tenant queue up.
  v_room := plugin_host.task_room(p_subject, p_limits, 64);
  if (v_room ->> 'near_subject')::boolean then
    perform pg_advisory_xact_lock(1129926450, hashtext(p_tenant_id::text || p_subject));
  end if;
  if (v_room ->> 'near_tenant')::boolean then
    perform pg_advisory_xact_lock(1129926451, hashtext(p_tenant_id::text));
  end if;
  if (v_room ->> 'near_subject')::boolean or (v_room ->> 'near_tenant')::boolean then
    v_room := plugin_host.task_room(p_subject, p_limits, 0);
  end if;
  if v_room ->> 'over' is not null then
    return json_build_object('outcome', 'limit', 'limit', v_room ->> 'over');
  end if;

  insert into plugin_host.tasks (
    task_id, tenant_id, plugin_id, tool_name, status, input, timeout_at, trace_id, subject,
    idempotency_key, request_hash, ttl_ms, expires_at, poll_interval_ms, lease_owner, lease_expires_at
  ) values (
    p_task_id, p_tenant_id, p_plugin_id, p_tool_name, 'running', p_input,
    now() + p_timeout_ms * interval '1 ms', p_trace_id, p_subject,
    p_idempotency_key, p_request_hash, p_ttl_ms, now() + p_ttl_ms * interval '1 ms',
    p_poll_interval_ms, p_instance_id, v_due
  ) on conflict do nothing returning * into v_task;

  if not found then
    -- Either the key was taken in this moment, or the id is somebody's: the
    -- answer for the latter is the same whoever has it.
    select * into v_task from plugin_host.tasks
    where subject = p_subject and tool_name = p_tool_name and idempotency_key = p_idempotency_key;
    if found then return plugin_host.task_existing(v_task, p_request_hash); end if;
    return json_build_object('outcome', 'collision');
  end if;

  update plugin_host.task_tenants set next_due_at = v_due
  where tenant_id = p_tenant_id and next_due_at > v_due;
  if not found then
    insert into plugin_host.task_tenants (tenant_id, next_due_at) values (p_tenant_id, v_due)
    on conflict do nothing;
  end if;
  return json_build_object('outcome', 'created', 'task', plugin_host.task_view(v_task, true));
end $$;

create function plugin_host.task_existing(p_task plugin_host.tasks, p_request_hash text) returns json
language sql stable
as $$
  select case when p_task.request_hash = p_request_hash
    then pg_catalog.json_build_object('outcome', 'existing', 'task', plugin_host.task_view(p_task, true))
    else pg_catalog.json_build_object('outcome', 'conflict')
  end
$$;

create function plugin_host.task_get(p_tenant_id uuid, p_subject text, p_task_id text) returns json
language plpgsql volatile
as $$
declare
  v_task plugin_host.tasks;
begin
  perform pg_catalog.set_config('auth.tenant_id', p_tenant_id::text, true);
  select * into v_task from plugin_host.tasks where task_id = p_task_id and subject = p_subject;
  if found and plugin_host.task_is_kept(v_task) then return plugin_host.task_view(v_task, true); end if;
  return null;
end $$;

-- The p_limit newest tasks before the given place (both null: from the newest on).
-- The place of a row is its creation time in microseconds and its id.
create function plugin_host.task_list(
  p_tenant_id uuid, p_subject text, p_before_us bigint, p_before_id text, p_limit integer
) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before timestamptz := 'epoch'::timestamptz + p_before_us * interval '1 us';
begin
  perform set_config('auth.tenant_id', p_tenant_id::text, true);
  return (
    select coalesce(json_agg(json_build_object(
      'task', plugin_host.task_view(t, false),
      'us', (extract(epoch from t.created_at) * 1000000)::bigint
    ) order by t.created_at desc, t.task_id desc), '[]'::json)
    from (
      select * from plugin_host.tasks t
      where t.subject = p_subject
        and (t.status = 'running' or t.expires_at > now())
        and (p_before_us is null or (t.created_at, t.task_id) < (v_before, p_before_id))
      order by t.created_at desc, t.task_id desc
      limit p_limit
    ) t
  );
end $$;

-- Ends a running task of this instance, and lets go of it in any case: a task
-- that was cancelled or closed meanwhile keeps the state it has.
create function plugin_host.task_finish(
  p_tenant_id uuid, p_task_id text, p_instance_id text, p_status text, p_output jsonb, p_error jsonb
) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_task plugin_host.tasks;
  v_changed boolean;
begin
  perform set_config('auth.tenant_id', p_tenant_id::text, true);
  update plugin_host.tasks set
    status = p_status, output = p_output, error = p_error,
    completed_at = now(), updated_at = now(), lease_owner = null, lease_expires_at = null
  where task_id = p_task_id and lease_owner = p_instance_id and status = 'running'
  returning * into v_task;
  v_changed := found;
  if not v_changed then
    update plugin_host.tasks set lease_owner = null, lease_expires_at = null
    where task_id = p_task_id and lease_owner = p_instance_id and status <> 'running'
    returning * into v_task;
    if not found then
      select * into v_task from plugin_host.tasks where task_id = p_task_id;
      return json_build_object(
        'changed', false, 'task', case when found then plugin_host.task_view(v_task, true) end
      );
    end if;
  end if;
  perform pg_notify('cyberos_tasks', 'e' || p_task_id);
  return json_build_object('changed', v_changed, 'task', plugin_host.task_view(v_task, true));
end $$;

create function plugin_host.task_cancel(p_tenant_id uuid, p_subject text, p_task_id text) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_task plugin_host.tasks;
begin
  perform set_config('auth.tenant_id', p_tenant_id::text, true);
  update plugin_host.tasks set status = 'cancelled', completed_at = now(), updated_at = now()
  where task_id = p_task_id and subject = p_subject and status = 'running'
  returning * into v_task;
  if found then
    perform pg_notify('cyberos_tasks', 'c' || p_task_id);
    return json_build_object('changed', true, 'task', plugin_host.task_view(v_task, true));
  end if;
  select * into v_task from plugin_host.tasks where task_id = p_task_id and subject = p_subject;
  if found and plugin_host.task_is_kept(v_task) then
    return json_build_object('changed', false, 'task', plugin_host.task_view(v_task, true));
  end if;
  return null;
end $$;

-- One heartbeat for everything that an instance runs.
--
-- p_beats: [{"tenant_id": …, "tasks": [{"id": …, "progress": null or {…}}, …]}, …]
-- Returns the ids that the instance must stop: cancelled, closed or gone.
create function plugin_host.task_beat(p_instance_id text, p_lease_ms bigint, p_beats jsonb) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_beat jsonb;
  v_stop text[] := '{}';
  v_missed text[];
begin
  for v_beat in select value from jsonb_array_elements(p_beats) loop
    perform set_config('auth.tenant_id', v_beat ->> 'tenant_id', true);
    with mine as (
      select b.id, b.progress from jsonb_to_recordset(v_beat -> 'tasks') as b(id text, progress jsonb)
    ), held as (
      update plugin_host.tasks t set
        lease_expires_at = now() + p_lease_ms * interval '1 ms',
        progress = coalesce(m.progress, t.progress),
        updated_at = case when m.progress is null then t.updated_at else now() end
      from mine m
      where t.task_id = m.id and t.lease_owner = p_instance_id and t.status = 'running'
      returning t.task_id
    ), ending as (
      -- Cancelled, and its work still ends: held on to until task_finish lets go.
      update plugin_host.tasks t set lease_expires_at = now() + p_lease_ms * interval '1 ms'
      from mine m
      where t.task_id = m.id and t.lease_owner = p_instance_id and t.status <> 'running'
      returning t.task_id
    )
    select array_agg(m.id) into v_missed from mine m
    where not exists (select from held h where h.task_id = m.id);
    v_stop := v_stop || coalesce(v_missed, '{}');
  end loop;
  return array_to_json(v_stop);
end $$;

create function plugin_host.task_tenants_due(p_limit integer) returns json
language sql stable
as $$
  select coalesce(pg_catalog.json_agg(d.tenant_id), '[]'::json) from (
    select tenant_id from plugin_host.task_tenants
    where next_due_at <= pg_catalog.now() order by next_due_at limit p_limit
  ) d
$$;

-- Closes what lost its instance and what is long overdue, and removes what is
-- past its ttl, of one tenant, at most p_batch rows of each.
--
-- p_patience_ms: no lease counts as lapsed so soon after the server's own
-- start, when nobody could have prolonged it.
create function plugin_host.task_maintain(
  p_tenant_id uuid, p_lost jsonb, p_overdue jsonb, p_patience_ms bigint, p_batch integer
) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_ids text[];
  v_removed bigint;
  v_next timestamptz;
  v_awake boolean := pg_postmaster_start_time() + p_patience_ms * interval '1 ms' < now();
begin
  perform set_config('auth.tenant_id', p_tenant_id::text, true);
  perform pg_advisory_xact_lock(1129926449, hashtext(p_tenant_id::text));

  with due as (
    select task_id, lease_expires_at < now() as lapsed from plugin_host.tasks
    where status = 'running' and v_awake
      and (lease_expires_at < now() or timeout_at + p_patience_ms * interval '1 ms' < now())
    limit p_batch for update skip locked
  ), closed as (
    update plugin_host.tasks t set
      status = 'failed', completed_at = now(), updated_at = now(),
      error = jsonb_set(
        case when t.timeout_at < t.lease_expires_at then p_overdue else p_lost end,
        '{data,trace_id}', to_jsonb(t.trace_id)
      ),
      lease_owner = case when d.lapsed then null else t.lease_owner end,
      lease_expires_at = case when d.lapsed then null else t.lease_expires_at end
    from due d where t.task_id = d.task_id
    returning t.task_id
  )
  select array_agg(task_id) into v_ids from closed;

  with gone as (
    select task_id from plugin_host.tasks
    where status <> 'running' and expires_at <= now()
    limit p_batch for update skip locked
  )
  delete from plugin_host.tasks t using gone g where t.task_id = g.task_id;
  get diagnostics v_removed = row_count;

  select least(
    min(least(lease_expires_at, timeout_at + p_patience_ms * interval '1 ms')) filter (where status = 'running'),
    min(expires_at) filter (where status <> 'running')
  ) into v_next from plugin_host.tasks;
  update plugin_host.task_tenants
  set next_due_at = case when v_next is null then 'infinity' else greatest(v_next, now() + interval '1 s') end
  where tenant_id = p_tenant_id;

  perform pg_notify('cyberos_tasks', 'e' || id) from unnest(v_ids) id;
  return json_build_object('closed', coalesce(cardinality(v_ids), 0), 'removed', v_removed);
end $$;

create function plugin_host.cursor_key() returns text
language sql stable
as $$ select cursor_key from plugin_host.settings $$;

-- What the bridge asks on its own connection before it trusts it.
create function plugin_host.bridge_check() returns json
language sql stable
as $$
  select pg_catalog.json_build_object(
    'version', (select pg_catalog.max(version) from plugin_host.migrations),
    'role', current_user,
    'superuser', (
      select pg_catalog.bool_or(r.rolsuper) from pg_catalog.pg_roles r
      where pg_catalog.pg_has_role(current_user, r.oid, 'member')
    ),
    'bypasses', (
      select pg_catalog.bool_or(r.rolbypassrls) from pg_catalog.pg_roles r
      where pg_catalog.pg_has_role(current_user, r.oid, 'member')
    ),
    'session_superuser', (
      select r.rolsuper or r.rolbypassrls from pg_catalog.pg_roles r where r.rolname = session_user
    ),
    'owner', (
      select pg_catalog.bool_or(pg_catalog.pg_has_role(current_user, c.relowner, 'member'))
      from pg_catalog.pg_class c
      where c.relnamespace = 'plugin_host'::pg_catalog.regnamespace and c.relkind in ('r', 'p')
    ),
    'bound', pg_catalog.row_security_active('plugin_host.tasks'::pg_catalog.regclass),
    'forced', (
      select c.relrowsecurity and c.relforcerowsecurity
      from pg_catalog.pg_class c where c.oid = 'plugin_host.tasks'::pg_catalog.regclass
    ),
    'policies', (
      select pg_catalog.json_agg(pg_catalog.concat_ws(' ',
        p.polname, p.polcmd,
        pg_catalog.pg_get_expr(p.polqual, p.polrelid), pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)
      ) order by p.polname)
      from pg_catalog.pg_policy p
      where p.polrelid = 'plugin_host.tasks'::pg_catalog.regclass and p.polpermissive
    ),
    'visible_without_tenant', (select pg_catalog.count(*) from (
      select from plugin_host.tasks limit 1
    ) t)
  )
$$;

revoke all on all tables in schema plugin_host from public;
revoke all on all functions in schema plugin_host from public;
grant execute on all functions in schema plugin_host to cyberos_bridge;
grant select on plugin_host.settings, plugin_host.migrations to cyberos_bridge;
grant select, insert, delete on plugin_host.tasks to cyberos_bridge;
grant update (status, output, error, updated_at, completed_at, progress, lease_owner, lease_expires_at)
  on plugin_host.tasks to cyberos_bridge;
grant select, insert on plugin_host.task_tenants to cyberos_bridge;
grant update (next_due_at) on plugin_host.task_tenants to cyberos_bridge;
