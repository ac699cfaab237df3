import HTTP
import Identity
import Localization
import Text

/// The values of the settings form, with the values from when the form was opened.
///
/// Only values that differ are changed, so an administrator doesn't undo another one's change of a
/// field that they didn't edit.
struct SettingsAnswers: Sendable {
  struct Answer<Value: Equatable & Sendable>: Sendable {
    let was: Value
    let now: Value

    var isChanged: Bool { was != now }

    func apply(to value: inout Value) {
      if isChanged { value = now }
    }
  }

  let name: Answer<String>
  let password: Answer<Bool>
  let emailLink: Answer<Bool>
  let anonymous: Answer<Bool>
  let phone: Answer<Bool>
  let factorForChanges: Answer<Bool>
  let domains: Answer<[String]>
  let privacy: Answer<Bool>
  let passwords: PasswordAnswers
  let importsTOTP: Answer<Bool>
  let typedDomains: String

  init(_ values: PoolSettings) {
    name = Answer(was: values.displayName, now: values.displayName)
    password = Answer(was: values.signIn.password, now: values.signIn.password)
    emailLink = Answer(was: values.signIn.emailLink, now: values.signIn.emailLink)
    anonymous = Answer(was: values.signIn.anonymous, now: values.signIn.anonymous)
    phone = Answer(was: values.signIn.phone, now: values.signIn.phone)
    factorForChanges = Answer(was: values.changesNeedFactor, now: values.changesNeedFactor)
    let domains = values.project?.authorizedDomains ?? []
    self.domains = Answer(was: domains, now: domains)
    privacy = Answer(was: values.hidesUsers, now: values.hidesUsers)
    passwords = PasswordAnswers(values)
    let importsTOTP = values.project?.importsTOTP ?? false
    self.importsTOTP = Answer(was: importsTOTP, now: importsTOTP)
    typedDomains = domains.joined(separator: "\n")
  }

  init(_ form: Form) {
    func flag(_ name: String) -> Answer<Bool> {
      Answer(was: form["was-\(name)"] == "on", now: form[name] == "on")
    }
    name = Answer(was: form.trimmed("was-name"), now: form.trimmed("name"))
    password = flag("password")
    emailLink = flag("email-link")
    anonymous = flag("anonymous")
    phone = flag("phone")
    factorForChanges = flag("factor-for-changes")
    privacy = flag("privacy")
    passwords = PasswordAnswers(form)
    importsTOTP = flag("import-totp")
    typedDomains = form.text("domains", atMost: Form.longestText) ?? ""
    domains = Answer(
      was: Self.lines(form.text("was-domains", atMost: Form.longestText) ?? ""),
      now: Self.lines(typedDomains))
  }

  /// The unique hostnames in a text, in lowercase.
  private static func lines(_ text: String) -> [String] {
    var seen: Set<UntrustedText> = []
    return text.split { $0.isWhitespace || $0 == "," }.map { $0.lowercased() }
      .filter { seen.insert(UntrustedText($0)).inserted }
  }

  var isChanged: Bool {
    name.isChanged || password.isChanged || emailLink.isChanged || anonymous.isChanged
      || phone.isChanged || factorForChanges.isChanged || domains.isChanged || privacy.isChanged
      || passwords.isChanged || importsTOTP.isChanged
  }

  func apply(to edit: inout PoolEdit) {
    name.apply(to: &edit.displayName)
    password.apply(to: &edit.signIn.password)
    emailLink.apply(to: &edit.signIn.emailLink)
    anonymous.apply(to: &edit.signIn.anonymous)
    phone.apply(to: &edit.signIn.phone)
    factorForChanges.apply(to: &edit.changesNeedFactor)
    if privacy.isChanged { edit.emailPrivacy = privacy.now }
    passwords.apply(to: &edit)
    guard var project = edit.project else { return }
    domains.applyDifference(to: &project.authorizedDomains)
    importsTOTP.apply(to: &project.importsTOTP)
    edit.project = project
  }
}

extension SettingsAnswers.Answer where Value == [String] {
  fileprivate func applyDifference(to values: inout [String]) {
    let (was, now) = (was.map { UntrustedText($0) }, now.map { UntrustedText($0) })
    let removed = Set(was).subtracting(now)
    values.removeAll { removed.contains(UntrustedText($0.lowercased())) }
    let added = Set(now).subtracting(was)
      .subtracting(values.map { UntrustedText($0.lowercased()) })
    values += now.filter(added.contains).map(\.text)
  }
}

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
