-- beside the previous release: yes
-- The role of a node says more than whether it runs workers. The previous release has no table of nodes.
alter table nodes add column role text not null default 'all' check (role in ('all', 'web', 'worker')); -- TOLLGATE_ROLE
alter table nodes alter column role drop default;
alter table nodes drop column runs_workers;
