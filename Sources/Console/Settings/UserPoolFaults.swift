import Identity
import Localization

extension FieldError {
  /// `id` is the project ID as typed, if there was a field for it.
  ///
  /// - Throws: ``Refusal`` if no field is wrong.
  init(_ error: UserPoolError, id: String = "") throws(Refusal) {
    switch error {
    case .invalidProjectID:
      self.init(field: "id", text: Message("settings.project-id-invalid"))
    case .projectIDTaken:
      self.init(
        field: "id", text: Message("settings.project-id-taken", ["id": .text(Formatted.short(id))]))
    case .invalidProjectName:
      self.init(field: "name", text: Message("settings.project-name-invalid"))
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
        text: Message("settings.domain-invalid", ["domain": .name(Formatted.short(domain))]))
    case .access(.ownerOnly):
      self.init(
        field: "domains",
        text: Message(
          "settings.domains-reserved", ["holder": .message(Permission.changeLinks.holder)]))
    case .passwords(.shortestOutOfRange): self = PasswordAnswers.range
    case .passwords(.longestOutOfRange), .passwords(.longestTooLong), .passwords(.versionCount):
      self.init(
        field: "password-shortest",
        text: Message("settings.shortest-above-longest"))
    case .projectNotFound, .tenantNotFound: throw .notFound
    case .access(.unauthorizedHost), .emailSender, .policy, .recaptcha, .unavailable:
      throw .unavailable(error)
    }
  }
}
