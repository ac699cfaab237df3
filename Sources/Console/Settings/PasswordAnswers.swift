import HTTP
import Identity
import Text

/// The form values for the password policy and user actions, with the values from when the form was
/// opened.
struct PasswordAnswers: Sendable {
  typealias Field = SettingsAnswers.Field

  let enforced: Field<Bool>
  let upgrade: Field<Bool>
  /// The minimum password length, as typed.
  let shortest: Field<String>
  let classes: [PasswordPolicy.CharacterClass: Field<Bool>]
  let signUp: Field<Bool>
  let deletion: Field<Bool>
  let expiry: Field<Bool>

  init(_ values: UserPool) {
    let policy = values.passwords ?? PasswordPolicy()
    func same<Value: Equatable & Sendable>(_ value: Value) -> Field<Value> {
      Field(was: value, now: value)
    }
    enforced = same(policy.isEnforced)
    upgrade = same(policy.forcesUpgrade)
    shortest = same(String(policy.shortestInForce))
    classes = Dictionary(
      uniqueKeysWithValues: PasswordPolicy.CharacterClass.allCases.map {
        ($0, same(policy.classes.contains($0)))
      })
    signUp = same(values.userPermissions.signUp)
    deletion = same(values.userPermissions.deletion)
    expiry = same(values.project?.expiresAnonymous ?? false)
  }

  init(_ form: Form) {
    func flag(_ name: String) -> Field<Bool> {
      Field(was: form["was-\(name)"] == "on", now: form[name] == "on")
    }
    enforced = flag("password-enforced")
    upgrade = flag("password-upgrade")
    shortest = Field(
      was: form.trimmed("was-password-shortest"), now: form.trimmed("password-shortest"))
    classes = Dictionary(
      uniqueKeysWithValues: PasswordPolicy.CharacterClass.allCases.map {
        ($0, flag("password-\($0.word)"))
      })
    signUp = flag("user-sign-up")
    deletion = flag("user-deletion")
    expiry = flag("expire-anonymous")
  }

  private var changesPolicy: Bool {
    enforced.isChanged || upgrade.isChanged || shortest.isChanged
      || classes.values.contains(where: \.isChanged)
  }

  var isChanged: Bool {
    changesPolicy || signUp.isChanged || deletion.isChanged || expiry.isChanged
  }

  /// The validation error of the typed length.
  var fault: FieldError? {
    guard shortest.isChanged else { return nil }
    guard let number = Int(shortest.now), PasswordPolicy.shortestRange.contains(number),
      shortest.now.allSatisfy({ $0.isASCII && $0.isNumber })
    else { return Self.range }
    return nil
  }

  static let range = FieldError(
    field: "password-shortest", text: "Enter a number from 6 to 30.")

  func apply(to edit: inout UserPoolEdit) {
    signUp.apply(to: &edit.userPermissions.signUp)
    deletion.apply(to: &edit.userPermissions.deletion)
    if expiry.isChanged { edit.project?.expiresAnonymous = expiry.now }
    guard changesPolicy else { return }
    var new = edit.passwords ?? PasswordPolicy()
    enforced.apply(to: &new.isEnforced)
    upgrade.apply(to: &new.forcesUpgrade)
    if shortest.isChanged { new.shortest = Int(shortest.now) }
    for (kind, field) in classes where field.isChanged {
      if field.now { new.classes.insert(kind) } else { new.classes.remove(kind) }
    }
    edit.passwords = new
  }

  /// The checkboxes of the password policy.
  var choices: [MethodChoice] {
    var choices = [
      MethodChoice(
        id: "password-enforced", label: "Require enforcement",
        field: enforced,
        hint:
          "Rejects noncompliant passwords at sign-up, change, and reset. A minimum of 6 characters always applies."
      )
    ]
    choices += PasswordPolicy.CharacterClass.allCases.compactMap { kind in
      classes[kind].map {
        MethodChoice(
          id: "password-\(kind.word)", label: kind.label, field: $0, hint: kind.hint)
      }
    }
    return choices + [
      MethodChoice(
        id: "password-upgrade", label: "Force upgrade on sign-in", field: upgrade,
        hint:
          "Users whose password isn’t compliant can’t sign in with it and must reset it."
      )
    ]
  }

  /// The checkboxes of the user actions.
  func userChoices(isProject: Bool) -> [MethodChoice] {
    var choices = [
      MethodChoice(
        id: "user-sign-up", label: "Enable create (sign-up)", field: signUp,
        hint: "If off, only administrators and programs with a token can create accounts."),
      MethodChoice(
        id: "user-deletion", label: "Enable delete", field: deletion,
        hint: "If off, only administrators and programs with a token can delete accounts."),
    ]
    guard isProject else { return choices }
    choices.append(
      MethodChoice(
        id: "expire-anonymous", label: "Delete anonymous users after 30 days", field: expiry,
        hint:
          "Applies to users outside tenants, 30 days after they were created. They can’t be restored."
      ))
    return choices
  }
}

extension PasswordPolicy.CharacterClass {
  /// The character class in field names.
  var word: String {
    switch self {
    case .lowercase: "lowercase"
    case .uppercase: "uppercase"
    case .digit: "digit"
    case .symbol: "symbol"
    }
  }

  fileprivate var label: String {
    switch self {
    case .lowercase: "Lowercase character required"
    case .uppercase: "Uppercase character required"
    case .digit: "Numeric character required"
    case .symbol: "Non-alphanumeric character required"
    }
  }

  fileprivate var hint: String {
    switch self {
    case .lowercase: "a to z"
    case .uppercase: "A to Z"
    case .digit: "0 to 9"
    case .symbol: PasswordPolicy.symbols.map(String.init).joined(separator: " ")
    }
  }

  fileprivate var noun: String {
    switch self {
    case .lowercase: "a lowercase character"
    case .uppercase: "an uppercase character"
    case .digit: "a numeric character"
    case .symbol: "a non-alphanumeric character"
    }
  }
}

extension PasswordPolicy {
  /// A summary of the policy.
  var formatted: String {
    guard isEnforced else { return "at least 6 characters" }
    var parts = ["at least \(shortestInForce) characters"]
    if let longest { parts.append("at most \(Words.number(longest))") }
    let kinds = CharacterClass.allCases.filter(classes.contains).map(\.noun)
    if !kinds.isEmpty { parts.append("with \(Words.list(kinds))") }
    if forcesUpgrade { parts.append("forced upgrade on sign-in") }
    return parts.joined(separator: ", ")
  }

  /// The sentence that lists the requirements that a new password doesn't meet.
  static func sentence(_ missing: [PasswordRequirement]) -> String {
    let parts = missing.map { requirement in
      switch requirement {
      case .atLeast(let count): "at least \(count) characters"
      case .atMost(let count): "at most \(Words.number(count)) characters"
      case .character(let kind): kind.noun
      }
    }
    return "Passwords must have \(Words.list(parts))."
  }
}
