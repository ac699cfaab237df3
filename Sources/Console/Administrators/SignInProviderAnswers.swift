import Crypto
import HTTP
import Identity
import Localization
import Templating

struct SignInProviderAnswers: Sendable {
  var version: SettingsVersion
  var provider: ConsoleProvider
  var secret = OptionalSecret("client-secret")
  /// The roles of groups, one per line.
  var roles: String
  var errors: [FieldError] = []

  init(_ provider: ConsoleProvider) {
    (version, self.provider) = (provider.version, provider)
    roles = provider.roles.map(\.line).joined(separator: "\n")
  }

  init(_ form: Form) {
    version = form.settingsVersion
    var provider = ConsoleProvider()
    (provider.name, provider.issuer) = (form.trimmed("name"), form.trimmed("issuer"))
    provider.clientID = form.trimmed("client-id")
    secret = OptionalSecret(secret.name, form.trimmed(secret.name), in: form)
    // Empty fields mean the usual values.
    let (scopes, claim) = (form.trimmed("scopes"), form.trimmed("groups-claim"))
    if !scopes.isEmpty { provider.scopes = scopes }
    if !claim.isEmpty { provider.groupsClaim = claim }
    provider.mfaValues = Self.lines(form.text("mfa-values", atMost: 4_096) ?? "")
    let account = form.trimmed("break-glass-account")
    provider.breakGlassAccount = account.isEmpty ? nil : ID(account)
    let text = form.text("roles", atMost: 65_536)
    if text == nil { errors.append(ConsoleProviderFault.tooManyRoles.fieldError) }
    let lines = Self.lines(text ?? "")
    roles = lines.joined(separator: "\n")
    for (index, line) in lines.enumerated() {
      if let role = GroupRole(line: line) {
        provider.roles.append(role)
      } else {
        let number = Message.Value.number(index + 1)
        errors.append(
          FieldError(
            field: "roles",
            text: Message(
              "Line {number}: enter a group, a colon, a role, and a scope.", ["number": number])))
      }
    }
    self.provider = provider
  }

  /// The new client secret; nil to keep the stored one.
  var newSecret: Secret? { secret.value.isEmpty ? nil : Secret(secret.value) }

  /// The lines of a text without white space around them, and without empty ones.
  private static func lines(_ text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).map(trimmed).filter { !$0.isEmpty }
  }

  fileprivate static func trimmed(_ text: Substring) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}

extension GroupRole {
  /// Reads a line with a group, a colon, a role, and its scope; nil if a part is missing or unknown.
  init?(line: String) {
    guard let colon = line.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let group = SignInProviderAnswers.trimmed(line[..<colon])
    let words = line[line.utf8.index(after: colon)...].split(separator: " ")
    guard !group.isEmpty, words.count == 2, let role = Role(rawValue: String(words[0])),
      let grant = GrantScope(String(words[1])).grant(role)
    else { return nil }
    self.init(group: group, grant: grant)
  }

  /// The line that ``init(line:)`` reads.
  var line: String { "\(group): \(grant.role.rawValue) \(GrantScope(grant).text)" }
}

extension ConsoleProvider {
  func facts(_ accounts: [Administrator]) -> [Fact] {
    let none = Markup(escaping: Message("None"))
    func fact(_ label: Message, _ lines: [String]) -> Fact {
      let lines = lines.filter { !$0.isEmpty }.map(HTML.isolated)
      return Fact(label, lines.isEmpty ? none : Markup(joining: lines, separator: "<br>"))
    }
    let account = accounts.first { $0.id == breakGlassAccount }?.email
    return [
      fact(Message("Name"), [name]), fact(Message("Issuer"), [issuer]),
      fact(Message("Client ID"), [clientID]),
      fact(Message("Scopes"), [scopes]),
      fact(Message("Values that indicate MFA"), mfaValues),
      fact(Message("Groups claim"), [groupsClaim]),
      fact(Message("Group roles"), roles.map(\.line)),
      fact(
        Message("Break-glass account"),
        [account ?? breakGlassAccount?.text ?? ""]),
    ]
  }
}
