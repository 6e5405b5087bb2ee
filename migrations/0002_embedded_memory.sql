-- The audit memory of --embedded: rows that are only ever added, each carrying
-- the hash of the one before it, a chain for each tenant.
-- scope: embedded
--
-- The operations are functions, as in 0001: one statement, one transaction, the
-- tenant set inside, row-level security as the one place that decides.
--
-- Source: decision D10.

create table plugin_host.audit_rows (
  tenant_id uuid not null,
  -- From 1 on, without gaps.
  seq bigint not null check (seq > 0),
  kind text not null check (kind ~ '^[a-z][a-z0-9_.-]{0,127}$'),
  actor_id text not null check (length(actor_id) between 1 and 256),
  body jsonb not null check (jsonb_typeof(body) = 'object'),
  recorded_at timestamptz not null,
  idempotency_key text check (length(idempotency_key) between 1 and 256),
  prev_hash char(64) not null check (prev_hash ~ '^[0-9a-f]{64}$'),
  hash char(64) not null check (hash ~ '^[0-9a-f]{64}$'),
  primary key (tenant_id, seq)
);

create unique index audit_rows_by_key on plugin_host.audit_rows (tenant_id, idempotency_key)
  where idempotency_key is not null;
create index audit_rows_by_kind on plugin_host.audit_rows (tenant_id, kind, seq);
create index audit_rows_by_actor on plugin_host.audit_rows (tenant_id, actor_id, seq);

alter table plugin_host.audit_rows enable row level security;
alter table plugin_host.audit_rows force row level security;
create policy audit_rows_read on plugin_host.audit_rows for select
  using (tenant_id = (select plugin_host.current_tenant()));
create policy audit_rows_add on plugin_host.audit_rows for insert
  with check (tenant_id = (select plugin_host.current_tenant()));

-- Not even the owner changes or removes a row by accident.
create function plugin_host.refuse_audit_change() returns trigger
language plpgsql
as $$
begin
  raise exception 'The audit memory is append-only' using errcode = 'insufficient_privilege';
end $$;

create trigger audit_rows_append_only before update or delete on plugin_host.audit_rows
for each row execute function plugin_host.refuse_audit_change();
create trigger audit_rows_never_truncated before truncate on plugin_host.audit_rows
for each statement execute function plugin_host.refuse_audit_change();

-- SHA-256 over the row and the hash before it. The text of a jsonb array is the
-- same for the same values, so that anybody with the rows can compute it again.
create function plugin_host.audit_hash(
  p_prev_hash text, p_tenant_id uuid, p_seq bigint, p_kind text, p_actor_id text, p_body jsonb, p_recorded_at timestamptz
) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(convert_to(jsonb_build_array(
    p_prev_hash, p_tenant_id, p_seq, p_kind, p_actor_id, p_body,
    (extract(epoch from p_recorded_at) * 1000000)::bigint
  )::text, 'UTF8')), 'hex')
$$;

create function plugin_host.audit_time(p_at timestamptz) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') $$;

-- Adds a row, or says what became of the key: "created", "existing", "conflict".
create function plugin_host.audit_append(
  p_tenant_id uuid, p_actor_id text, p_kind text, p_body jsonb, p_idempotency_key text
) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
declare
  v_row plugin_host.audit_rows;
  v_last plugin_host.audit_rows;
  v_prev text;
begin
  perform set_config('auth.tenant_id', p_tenant_id::text, true);
  -- One at a time for each tenant: a chain has one end. 1129926452 is this lock's alone.
  perform pg_advisory_xact_lock(1129926452, hashtext(p_tenant_id::text));

  if p_idempotency_key is not null then
    select * into v_row from plugin_host.audit_rows where idempotency_key = p_idempotency_key;
    if found then
      return json_build_object(
        'outcome', case
          when v_row.kind = p_kind and v_row.actor_id = p_actor_id and v_row.body = p_body then 'existing'
          else 'conflict'
        end,
        'seq', v_row.seq, 'recorded_at', plugin_host.audit_time(v_row.recorded_at), 'hash', v_row.hash
      );
    end if;
  end if;

  select * into v_last from plugin_host.audit_rows order by seq desc limit 1;
  v_prev := coalesce(v_last.hash, repeat('0', 64));
  v_row.seq := coalesce(v_last.seq, 0) + 1;
  v_row.recorded_at := clock_timestamp();
  v_row.hash := plugin_host.audit_hash(
    v_prev, p_tenant_id, v_row.seq, p_kind, p_actor_id, p_body, v_row.recorded_at);

  insert into plugin_host.audit_rows (
    tenant_id, seq, kind, actor_id, body, recorded_at, idempotency_key, prev_hash, hash
  ) values (
    p_tenant_id, v_row.seq, p_kind, p_actor_id, p_body, v_row.recorded_at, p_idempotency_key, v_prev, v_row.hash
  );
  return json_build_object(
    'outcome', 'created', 'seq', v_row.seq,
    'recorded_at', plugin_host.audit_time(v_row.recorded_at), 'hash', v_row.hash
  );
end $$;

-- Rows after p_since_seq, oldest first. next_seq is null at the end.
create function plugin_host.audit_read(
  p_tenant_id uuid, p_actor_id text, p_kind text, p_since_seq bigint, p_limit integer
) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_page json;
begin
  perform set_config('auth.tenant_id', p_tenant_id::text, true);
  select json_build_object(
    'rows', coalesce(json_agg(json_build_object(
      'seq', r.seq, 'kind', r.kind, 'actor_id', r.actor_id, 'tenant_id', r.tenant_id, 'body', r.body,
      'recorded_at', plugin_host.audit_time(r.recorded_at), 'prev_hash', r.prev_hash, 'hash', r.hash
    ) order by r.seq) filter (where r.place <= p_limit), '[]'::json),
    'next_seq', case when count(*) > p_limit then max(r.seq) filter (where r.place = p_limit) end
  ) into v_page
  from (
    select *, row_number() over (order by seq) as place
    from plugin_host.audit_rows
    where seq > p_since_seq
      and (p_actor_id is null or actor_id = p_actor_id)
      and (p_kind is null or kind = p_kind)
    order by seq
    limit p_limit + 1
  ) r;
  return v_page;
end $$;

-- Computes the tenant's chain again. broken_at is the first row that does not
-- follow from the one before it, or null.
create function plugin_host.audit_verify(p_tenant_id uuid) returns json
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer json;
begin
  perform set_config('auth.tenant_id', p_tenant_id::text, true);
  select json_build_object(
    'rows', count(*),
    'broken_at', min(r.seq) filter (where
      r.seq <> r.place
      or r.prev_hash <> r.expected_prev
      or r.hash <> plugin_host.audit_hash(r.prev_hash, r.tenant_id, r.seq, r.kind, r.actor_id, r.body, r.recorded_at)
    )
  ) into v_answer
  from (
    select *,
      row_number() over (order by seq) as place,
      lag(hash, 1, repeat('0', 64)::char(64)) over (order by seq) as expected_prev
    from plugin_host.audit_rows
  ) r;
  return v_answer;
end $$;

revoke all on plugin_host.audit_rows from public;
revoke all on function
  plugin_host.refuse_audit_change(),
  plugin_host.audit_hash(text, uuid, bigint, text, text, jsonb, timestamptz),
  plugin_host.audit_time(timestamptz),
  plugin_host.audit_append(uuid, text, text, jsonb, text),
  plugin_host.audit_read(uuid, text, text, bigint, integer),
  plugin_host.audit_verify(uuid)
from public;
grant execute on function
  plugin_host.audit_hash(text, uuid, bigint, text, text, jsonb, timestamptz),
  plugin_host.audit_time(timestamptz),
  plugin_host.audit_append(uuid, text, text, jsonb, text),
  plugin_host.audit_read(uuid, text, text, bigint, integer),
  plugin_host.audit_verify(uuid)
to cyberos_bridge;
grant select, insert on plugin_host.audit_rows to cyberos_bridge;
