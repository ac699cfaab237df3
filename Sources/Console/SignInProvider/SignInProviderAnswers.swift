import Crypto
import HTTP
import Identity
import Localization
import Templating

/// What an administrator entered about the provider.
struct SignInProviderAnswers: Sendable {
  /// A role of a group, as entered.
  struct Row: Sendable {
    var group = ""
    var role = ""
    var place = GrantScope()

    var isEmpty: Bool { group.isEmpty && role.isEmpty }
  }

  /// The version of the provider when the form was opened.
  var version: SettingsVersion
  var name = ""
  var issuer = ""
  var clientID = ""
  var secret = OptionalSecret("client-secret")
  var scopes = ""
  var groupsClaim = ""
  var mfaValues = ""
  var rows: [Row] = []
  /// The groups or the subject to preview.
  var previewGroups = ""
  var previewSubject = ""
  /// The digest of the changes of roles that were confirmed.
  var confirmed = ""

  /// The number of empty rows that a form has.
  private static let spare = 3

  init(_ provider: ConsoleProvider) {
    version = provider.version
    (name, issuer, clientID) = (provider.name, provider.issuer, provider.clientID)
    (scopes, groupsClaim) = (provider.scopes, provider.groupsClaim)
    mfaValues = provider.mfaValues.joined(separator: "\n")
    rows = provider.roles.map { role in
      Row(
        group: role.group, role: role.grant.role.rawValue,
        place: GrantScope(role.grant))
    }
  }

  init(_ form: Form) {
    version = form.settingsVersion
    (name, issuer) = (form.trimmed("name"), form.trimmed("issuer"))
    clientID = form.trimmed("client-id")
    secret = OptionalSecret(secret.name, form.trimmed(secret.name), in: form)
    scopes = form.trimmed("scopes")
    groupsClaim = form.trimmed("groups-claim")
    mfaValues = form.text("mfa-values", atMost: 4_096) ?? ""
    rows = (1...(ConsoleProvider.mostRoles + Self.spare)).compactMap { number in
      guard form["group-\(number)"] != nil else { return nil }
      return Row(
        group: form.trimmed("group-\(number)"), role: form.trimmed("role-\(number)"),
        place: GrantScope(form.trimmed("place-\(number)")))
    }
    previewGroups = form.text("preview-groups", atMost: 65_536) ?? ""
    previewSubject = form.trimmed("preview-subject")
    confirmed = form.trimmed("confirmed")
  }

  /// The rows with some empty ones at the end.
  var shownRows: [Row] {
    let filled = rows.filter { !$0.isEmpty }
    return filled + Array(repeating: Row(), count: Self.spare)
  }

  /// The provider, and the errors of the rows.
  var provider: (provider: ConsoleProvider, errors: [FieldError]) {
    var roles: [GroupRole] = []
    var errors: [FieldError] = []
    for (index, row) in rows.filter({ !$0.isEmpty }).enumerated() {
      guard let role = Role(rawValue: row.role) else {
        errors.append(
          FieldError(
            field: "role-\(index + 1)", text: Message("sign-in-provider.role-required")))
        continue
      }
      guard !row.group.isEmpty else {
        errors.append(
          FieldError(
            field: "group-\(index + 1)", text: Message("sign-in-provider.group-required")))
        continue
      }
      guard let grant = row.place.grant(role) else {
        errors.append(
          FieldError(
            field: "place-\(index + 1)", text: Message("administrators.place-required")))
        continue
      }
      roles.append(GroupRole(group: row.group, grant: grant))
    }
    let provider = ConsoleProvider(
      name: name, issuer: issuer, clientID: clientID,
      scopes: scopes.isEmpty ? ConsoleProvider.usualScopes : scopes,
      groupsClaim: groupsClaim.isEmpty ? ConsoleProvider.usualGroupsClaim : groupsClaim,
      mfaValues: Self.lines(mfaValues), roles: roles)
    return (provider, errors)
  }

  /// The new client secret; nil to keep the stored one.
  var newSecret: Secret? { secret.value.isEmpty ? nil : Secret(secret.value) }

  /// The lines of a text without white space around them, and without empty ones.
  static func lines(_ text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).map { line in
      String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }.filter { !$0.isEmpty }
  }
}

extension ConsoleProvider {
  /// The values for comparison.
  var facts: [Fact] {
    let none = Markup(escaping: Message("sign-in-provider.none"))
    func lines(_ lines: [Markup]) -> Markup {
      guard let first = lines.first else { return none }
      let lineBreak = Markup(trusted: "<br>")
      return Markup(joining: lines.dropFirst().reduce([first]) { $0 + [lineBreak, $1] })
    }
    func fact(_ label: Message, _ text: String) -> Fact {
      Fact(label, text.isEmpty ? none : HTML.isolated(text))
    }
    return [
      fact(Message("common.name"), name), fact(Message("sign-in-provider.issuer"), issuer),
      fact(Message("sign-in-provider.client-id"), clientID),
      fact(Message("sign-in-provider.scopes"), scopes),
      Fact(Message("sign-in-provider.mfa-values"), lines(mfaValues.map(HTML.isolated))),
      fact(Message("sign-in-provider.groups-claim"), groupsClaim),
      Fact(
        Message("sign-in-provider.roles-of-groups"),
        lines(
          roles.map { role in
            Markup(joining: [HTML.isolated(role.group), Markup(trusted: ": "), role.grant.place])
          })),
    ]
  }
}
