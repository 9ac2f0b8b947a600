import { formTokenField } from '../../core/formOrigin.ts'

// Stands in every form that changes something.
export const FormToken = ({ token }: { token: string }) => (
  <input type="hidden" name={formTokenField} value={token} />
)
