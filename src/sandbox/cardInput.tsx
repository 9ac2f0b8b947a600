type CardInputProps = {
  name: string
  label: string
  autocomplete: string
  maxlength: number
  inputmode?: 'numeric'
  required?: boolean
  value?: string
  error?: string
  isAlone?: boolean // no summary above speaks for it
}

// A field with its label, and below it what is wrong with it.
export const CardInput = ({ name, label, error, isAlone, ...rest }: CardInputProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    <input
      id={name}
      name={name}
      type="text"
      {...rest}
      {...(error && { 'aria-invalid': 'true', 'aria-describedby': `${name}-error` })}
    />
    {error && (
      <p class="error" id={`${name}-error`} {...(isAlone && { role: 'alert' })}>
        {error}
      </p>
    )}
  </div>
)
