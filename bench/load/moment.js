// Milliseconds on the clock that all processes of a machine share and nobody sets.
export const nowMs = () => Number(process.hrtime.bigint()) / 1e6
