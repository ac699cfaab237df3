import HTTP
import Identity

/// What stands in the form about passwords and about what users do themselves, beside what stood
/// there when it was opened.
struct PasswordAnswers: Sendable {
  typealias Field = SettingsAnswers.Field

  let enforced: Field<Bool>
  let upgrade: Field<Bool>
  /// The fewest characters, as typed.
  let shortest: Field<String>
  let classes: [PasswordPolicy.CharacterClass: Field<Bool>]
  let signUp: Field<Bool>
  let deletion: Field<Bool>
  let expiry: Field<Bool>

  init(_ values: ScopeValues) {
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

  /// What is wrong with what was typed.
  var fault: FieldError? {
    guard shortest.isChanged else { return nil }
    guard let number = Int(shortest.now), PasswordPolicy.shortestRange.contains(number),
      shortest.now.allSatisfy({ $0.isASCII && $0.isNumber })
    else { return Self.range }
    return nil
  }

  static let range = FieldError(
    field: "password-shortest", text: "Write a number from 6 to 30.")

  func apply(to policy: inout PasswordPolicy?, _ permissions: inout UserPermissions) {
    signUp.apply(to: &permissions.signUp)
    deletion.apply(to: &permissions.deletion)
    guard changesPolicy else { return }
    var new = policy ?? PasswordPolicy()
    enforced.apply(to: &new.isEnforced)
    upgrade.apply(to: &new.forcesUpgrade)
    if shortest.isChanged { new.shortest = Int(shortest.now) }
    for (kind, field) in classes where field.isChanged {
      if field.now { new.classes.insert(kind) } else { new.classes.remove(kind) }
    }
    policy = new
  }

  func apply(expiry value: inout Bool) { expiry.apply(to: &value) }

  /// What a password must have, to tick.
  var choices: [MethodChoice] {
    var choices = [
      MethodChoice(
        id: "password-enforced", label: "Refuse passwords that break these rules",
        field: enforced,
        hint: "At sign-up, at a change and after a reset. Six characters are asked for in any case."
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
        id: "password-upgrade", label: "Also at sign-in", field: upgrade,
        hint:
          "Whoever has an older password that breaks the rules does not get in with it, and needs a reset."
      )
    ]
  }

  /// What users do themselves, to tick.
  func userChoices(isProject: Bool) -> [MethodChoice] {
    var choices = [
      MethodChoice(
        id: "user-sign-up", label: "Users make accounts themselves", field: signUp,
        hint: "Otherwise only administrators and programs with a token make them."),
      MethodChoice(
        id: "user-deletion", label: "Users delete their own accounts", field: deletion,
        hint: "Otherwise only administrators and programs with a token do."),
    ]
    guard isProject else { return choices }
    choices.append(
      MethodChoice(
        id: "expire-anonymous", label: "Anonymous users go after 30 days", field: expiry,
        hint:
          "Those outside of tenants, counted from when they were made. They cannot be brought back."
      ))
    return choices
  }
}

extension PasswordPolicy.CharacterClass {
  /// The kind in the names of fields.
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
    case .lowercase: "A small letter"
    case .uppercase: "A capital letter"
    case .digit: "A digit"
    case .symbol: "Another character"
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
    case .lowercase: "a small letter"
    case .uppercase: "a capital letter"
    case .digit: "a digit"
    case .symbol: "another character"
    }
  }
}

extension PasswordPolicy {
  /// The policy in a line.
  var formatted: String {
    guard isEnforced else { return "6 characters or more" }
    var parts = ["\(shortestInForce) characters or more"]
    if let longest { parts.append("\(Words.number(longest)) at most") }
    let kinds = CharacterClass.allCases.filter(classes.contains).map(\.noun)
    if !kinds.isEmpty { parts.append("with \(Words.list(kinds))") }
    if forcesUpgrade { parts.append("also at sign-in") }
    return parts.joined(separator: ", ")
  }

  /// What a new password lacks, in a sentence.
  static func sentence(_ missing: [PasswordRequirement]) -> String {
    let parts = missing.map { requirement in
      switch requirement {
      case .atLeast(let count): "\(count) characters or more"
      case .atMost(let count): "\(Words.number(count)) characters at most"
      case .character(let kind): kind.noun
      }
    }
    return "Passwords here have \(Words.list(parts))."
  }
}
