import Identity
import Localization

extension FieldError {
  /// Why a project or tenant isn't created or changed, next to the field that it's about.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - id: The project ID as typed, if there was a field for it.
  /// - Throws: ``Refusal`` if no field is wrong.
  init(_ error: UserPoolError, id: String = "") throws(Refusal) {
    switch error {
    case .invalidProjectID:
      self.init(
        field: "id",
        text:
          "Enter an ID of 6 to 30 characters: a–z, 0–9, and hyphens, starting with a letter and not ending with a hyphen."
      )
    case .projectIDTaken:
      self.init(
        field: "id", text: "The project ID \(Words.short(id)) is already in use. Enter another ID.")
    case .invalidProjectName:
      self.init(field: "name", text: "Enter a name of 1 to 100 characters without line breaks.")
    case .missingTenantName: self.init(field: "name", text: Message("tenants.name-missing"))
    case .invalidTenantName:
      self.init(
        field: "name",
        text: Message("tenants.name-invalid")
      )
    case .multiTenancyOff:
      self.init(
        field: "name", text: Message("tenants.multi-tenancy-off"))
    case .invalidDomain(let domain):
      self.init(
        field: "domains",
        text:
          "\(Words.isolated(domain)) isn’t a valid hostname. Enter names such as app.example.com, without https:// or a port."
      )
    case .links(.ownerOnly):
      self.init(
        field: "domains",
        text: "Only \(Permission.changeLinks.holder) can change the authorized domains.")
    case .passwords(.shortestOutOfRange): self = PasswordAnswers.range
    case .passwords(.longestOutOfRange), .passwords(.longestTooLong), .passwords(.versionCount):
      self.init(
        field: "password-shortest",
        text: "The maximum length, set through the API, is less than that. Enter a smaller number.")
    case .projectNotFound, .tenantNotFound: throw .notFound
    case .links(.unauthorizedHost), .policy, .recaptcha, .unavailable: throw .unavailable(error)
    }
  }
}
