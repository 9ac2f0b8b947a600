// A token bucket: `rate` tokens a second up to `burst`. Time is monotonic milliseconds.
export type Bucket = { tokens: number; at: number }

export const fullBucket = (burst: number, at: number): Bucket => ({ tokens: burst, at })

export function refill(bucket: Bucket, rate: number, burst: number, at: number): Bucket {
  const gained = ((at - bucket.at) / 1000) * rate
  return { tokens: Math.min(burst, bucket.tokens + gained), at }
}
