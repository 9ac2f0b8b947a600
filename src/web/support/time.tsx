export const Time = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()}>{at.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>
)
