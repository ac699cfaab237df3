import Identity

/// Why the members of a configuration can't be applied to a project or tenant.
enum ConfigError: Error {
  case passwords(PasswordPolicyError)
  case recaptcha(RecaptchaError)

  var ofProject: ProjectError {
    switch self {
    case .passwords(let error): .passwords(error)
    case .recaptcha(let error): .recaptcha(error)
    }
  }

  var ofTenant: TenantError {
    switch self {
    case .passwords(let error): .passwords(error)
    case .recaptcha(let error): .recaptcha(error)
    }
  }
}
