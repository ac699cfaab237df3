import HTTP
import Identity
import Localization
import Text

/// The form values for the password policy and user actions, with the values from when the form was
/// opened.
struct PasswordAnswers: Sendable {
  typealias Field = SettingsAnswers.Field

  /// Whether the policy is enforced; if not, applications can notify users of its requirements.
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

  var fault: FieldError? {
    guard shortest.isChanged else { return nil }
    guard let number = Int(shortest.now), PasswordPolicy.shortestRange.contains(number),
      shortest.now.allSatisfy({ $0.isASCII && $0.isNumber })
    else { return Self.range }
    return nil
  }

  static let range = FieldError(
    field: "password-shortest", text: Message("settings.shortest-range"))

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

  var choices: [MethodChoice] {
    let choices = PasswordPolicy.CharacterClass.allCases.compactMap { kind in
      classes[kind].map {
        MethodChoice(
          id: "password-\(kind.word)", label: kind.label, field: $0, hint: kind.hint)
      }
    }
    return choices + [
      MethodChoice(
        id: "password-upgrade", label: Message("settings.force-upgrade"), field: upgrade,
        hint: Message("settings.force-upgrade-hint"))
    ]
  }

  func userChoices(isProject: Bool) -> [MethodChoice] {
    var choices = [
      MethodChoice(
        id: "user-sign-up", label: Message("settings.enable-create"), field: signUp,
        hint: Message("settings.enable-create-hint")),
      MethodChoice(
        id: "user-deletion", label: Message("settings.enable-delete"), field: deletion,
        hint: Message("settings.enable-delete-hint")),
    ]
    guard isProject else { return choices }
    choices.append(
      MethodChoice(
        id: "expire-anonymous", label: Message("settings.expire-anonymous"), field: expiry,
        hint: Message("settings.expire-anonymous-hint")))
    return choices
  }
}

extension PasswordPolicy.CharacterClass {
  var word: String {
    switch self {
    case .lowercase: "lowercase"
    case .uppercase: "uppercase"
    case .digit: "digit"
    case .symbol: "symbol"
    }
  }

  fileprivate var label: Message {
    switch self {
    case .lowercase: Message("settings.lowercase-required")
    case .uppercase: Message("settings.uppercase-required")
    case .digit: Message("settings.digit-required")
    case .symbol: Message("settings.symbol-required")
    }
  }

  fileprivate var hint: Message {
    switch self {
    case .lowercase: Message("settings.lowercase-range")
    case .uppercase: Message("settings.uppercase-range")
    case .digit: Message("settings.digit-range")
    case .symbol: .verbatim(PasswordPolicy.symbols.map(String.init).joined(separator: " "))
    }
  }

  fileprivate var noun: Message {
    switch self {
    case .lowercase: Message("settings.lowercase")
    case .uppercase: Message("settings.uppercase")
    case .digit: Message("settings.digit")
    case .symbol: Message("settings.symbol")
    }
  }
}

extension PasswordPolicy {
  var formatted: Message {
    guard isEnforced || self != PasswordPolicy() else {
      return Message("settings.at-least", ["count": .number(shortestInForce)])
    }
    var parts = [Message("settings.at-least", ["count": .number(shortestInForce)])]
    if let longest {
      parts.append(Message("settings.at-most-number", ["number": .number(longest)]))
    }
    let kinds = CharacterClass.allCases.filter(classes.contains).map(\.noun)
    if !kinds.isEmpty {
      parts.append(Message("settings.with-characters", ["characters": .list(kinds)]))
    }
    if forcesUpgrade { parts.append(Message("settings.forced-upgrade")) }
    if !isEnforced { parts.append(Message("settings.notified-only")) }
    return .value(.sequence(parts))
  }

  static func sentence(_ missing: [PasswordRequirement]) -> Message {
    let parts = missing.map { requirement in
      switch requirement {
      case .atLeast(let count): Message("settings.at-least", ["count": .number(count)])
      case .atMost(let count): Message("settings.at-most", ["count": .number(count)])
      case .character(let kind): kind.noun
      }
    }
    return Message("settings.password-must-have", ["requirements": .list(parts)])
  }
}
