-- beside the previous release: yes
-- W3C trace context of the request that created the payment, so that other processes continue its trace: src/core/traces.ts.
-- Null if no SDK was loaded or the request was not sampled. A node of the previous release writes none.
alter table payments add column traceparent text;
