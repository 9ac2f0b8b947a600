import { isSecureAddress } from '../../core/operator/operatorKeys.ts'

// Browsers accept the prefix __Host- only together with Secure.
export const userCookie = (baseUrl: string) =>
  isSecureAddress(baseUrl) ? '__Host-tollgate_session' : 'tollgate_session'
