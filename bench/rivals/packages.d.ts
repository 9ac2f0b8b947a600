// They are installed only when a section needs them, so nothing is known of them here.
declare module 'graphile-worker'
declare module 'pg-boss'
declare module 'undici'
