// Milliseconds on the clock that all processes of a machine share and that is never set (monotonic).
export const nowMs = () => Number(process.hrtime.bigint()) / 1e6
