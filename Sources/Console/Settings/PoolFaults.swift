import Identity
import Localization

extension FieldError {
  /// `id` is the project ID as typed, if there was a field for it.
  ///
  /// - Throws: ``Refusal`` if no field is wrong.
  init(_ error: PoolError, id: String = "") throws {
    switch error {
    case .invalidProjectID:
      self.init(
        field: "id",
        text: Message(
          """
          Enter an ID of 6 to 30 characters: a–z, 0–9, and hyphens, starting with a letter and not \
          ending with a hyphen.
          """))
    case .projectIDTaken:
      self.init(
        field: "id",
        text: Message(
          "The project ID {id} is already in use. Enter another ID.",
          ["id": .text(Formatted.short(id))]))
    case .invalidProjectName:
      self.init(
        field: "name",
        text: Message("Enter a name of 1 to 100 characters without line breaks."))
    case .missingTenantName: self.init(field: "name", text: Message("Enter a tenant name."))
    case .invalidTenantName:
      self.init(
        field: "name",
        text: Message(
          """
          Enter a name of 4 to 20 letters (a–z, A–Z), digits, and hyphens, starting with a \
          letter.
          """)
      )
    case .multiTenancyOff:
      self.init(
        field: "name",
        text: Message(
          """
          Multi-tenancy is turned off for this project. To create tenants, set \
          multiTenant.allowTenants to true through the API.
          """))
    case .invalidDomain(let domain):
      self.init(
        field: "domains",
        text: Message(
          """
          {domain} isn’t a valid hostname. Enter names such as app.example.com, without https:// \
          or a port.
          """, ["domain": .name(Formatted.short(domain))]))
    case .ownerOnly:
      self.init(
        field: "domains",
        text: Message(
          "Changing the authorized domains requires the {roles} role.",
          ["roles": Permission.changeLinks.roleNames]))
    case .shortestPasswordOutOfRange: self = PasswordAnswers.range
    case .longestPasswordOutOfRange, .longestPasswordTooLong, .passwordPolicyVersions:
      self.init(
        field: "password-shortest",
        text: Message(
          "The maximum length, set through the API, is less than that. Enter a smaller number."))
    case .projectNotFound, .tenantNotFound: throw Refusal.notFound
    case .unauthorizedHost, .invalidSenderName, .invalidReplyTo, .policy, .recaptcha:
      throw error
    }
  }
}
