-- Apart from the change of the list, so that attempts go on while all of them are looked at.
alter table attempts validate constraint attempts_state_check;
