export const maxBackupHours = 26 // a night, and a late timer; as the alert TollgateBackupOld

export const isBackupOld = (takenAt: Date, now: Date) =>
  now.getTime() - takenAt.getTime() > maxBackupHours * 3_600_000
