-- outside a transaction: messages leave meanwhile. Recipients are counted by their mailbox now.
drop index concurrently if exists messages_by_recipient;
