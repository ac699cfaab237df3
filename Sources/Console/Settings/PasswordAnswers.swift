import HTTP
import Identity
import Localization
import Text

/// The form values for the password policy and user actions, with the values from when the form was
/// opened.
struct PasswordAnswers: Sendable {
  typealias Answer = SettingsAnswers.Answer

  /// Whether the policy is enforced; if not, applications can notify users of its requirements.
  let enforced: Answer<Bool>
  let upgrade: Answer<Bool>
  /// The minimum password length, as typed.
  let shortest: Answer<String>
  let refusesCommon: Answer<Bool>
  let classes: [PasswordPolicy.CharacterClass: Answer<Bool>]
  let signUp: Answer<Bool>
  let deletion: Answer<Bool>
  let expiry: Answer<Bool>

  init(_ values: PoolSettings) {
    let policy = values.passwords ?? PasswordPolicy()
    func same<Value: Equatable & Sendable>(_ value: Value) -> Answer<Value> {
      Answer(was: value, now: value)
    }
    enforced = same(policy.isEnforced)
    upgrade = same(policy.forcesUpgrade)
    shortest = same(String(policy.shortestInForce))
    refusesCommon = same(policy.refusesCommon)
    classes = Dictionary(
      uniqueKeysWithValues: PasswordPolicy.CharacterClass.allCases.map {
        ($0, same(policy.classes.contains($0)))
      })
    signUp = same(values.userPermissions.signUp)
    deletion = same(values.userPermissions.deletion)
    expiry = same(values.project?.expiresAnonymous ?? false)
  }

  init(_ form: Form) {
    func flag(_ name: String) -> Answer<Bool> {
      Answer(was: form["was-\(name)"] == "on", now: form[name] == "on")
    }
    enforced = flag("password-enforced")
    upgrade = flag("password-upgrade")
    shortest = Answer(
      was: form.trimmed("was-password-shortest"), now: form.trimmed("password-shortest"))
    refusesCommon = flag("password-uncommon")
    classes = Dictionary(
      uniqueKeysWithValues: PasswordPolicy.CharacterClass.allCases.map {
        ($0, flag("password-\($0.word)"))
      })
    signUp = flag("user-sign-up")
    deletion = flag("user-deletion")
    expiry = flag("expire-anonymous")
  }

  private var changesPolicy: Bool {
    enforced.isChanged || upgrade.isChanged || shortest.isChanged || refusesCommon.isChanged
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
    field: "password-shortest", text: Message("Enter a number from 6 to 30."))

  func apply(to edit: inout PoolEdit) {
    signUp.apply(to: &edit.userPermissions.signUp)
    deletion.apply(to: &edit.userPermissions.deletion)
    if expiry.isChanged { edit.project?.expiresAnonymous = expiry.now }
    guard changesPolicy else { return }
    var new = edit.passwords ?? PasswordPolicy()
    enforced.apply(to: &new.isEnforced)
    upgrade.apply(to: &new.forcesUpgrade)
    refusesCommon.apply(to: &new.refusesCommon)
    if shortest.isChanged { new.shortest = Int(shortest.now) }
    for (kind, field) in classes where field.isChanged {
      if field.now { new.classes.insert(kind) } else { new.classes.remove(kind) }
    }
    edit.passwords = new
  }

  var fields: [Field] {
    let required = PasswordPolicy.CharacterClass.allCases.compactMap { kind in
      classes[kind].map {
        Field.setting("password-\(kind.word)", kind.label, hint: kind.hint, $0)
      }
    }
    let length: [Field] = [
      .line(
        "password-shortest", Message("Minimum password length"),
        hint: Message("6 to 30. Length protects better than character requirements."),
        Field.Look.figure, value: shortest.now
      ).counting(Message("characters")).over(shortest.was, isSent: true),
      .choice(
        "password-enforced", Message("Enforcement"),
        hint: Message(
          """
          Require: rejects noncompliant passwords at sign-up, change, and reset. Notify: \
          applications can show users what’s missing. A minimum of 6 characters always applies.
          """),
        [
          Field.Option(value: "on", label: Message("Require")),
          Field.Option(value: "off", label: Message("Notify")),
        ], value: enforced.now ? "on" : "off"
      ).over(enforced.was, isSent: true),
    ]
    return length + required + others
  }

  private var others: [Field] {
    [
      .setting(
        "password-uncommon", Message("Refuse common passwords"),
        hint: Message("The 10,000 most common ones of at least eight characters"), refusesCommon),
      .setting(
        "password-upgrade", Message("Force upgrade on sign-in"),
        hint: Message(
          "Users whose password isn’t compliant can’t sign in with it and must reset it."), upgrade),
    ]
  }

  func userActions(isProject: Bool) -> [Field] {
    let fields: [Field] = [
      .setting(
        "user-sign-up", Message("Enable create (sign-up)"),
        hint: Message("If off, only administrators and programs with a token can create accounts."),
        signUp),
      .setting(
        "user-deletion", Message("Enable delete"),
        hint: Message("If off, only administrators and programs with a token can delete accounts."),
        deletion),
    ]
    guard isProject else { return fields }
    return fields + [
      .setting(
        "expire-anonymous", Message("Delete anonymous users after 30 days"),
        hint: Message(
          """
          Applies to users outside tenants, 30 days after they were created. Deleted users can’t \
          be restored.
          """), expiry)
    ]
  }
}

extension Field {
  static func setting(
    _ name: String, _ label: Message, hint: Message, _ field: SettingsAnswers.Answer<Bool>
  ) -> Field {
    .check(name, label, hint: hint, isOn: field.now).over(field.was, isSent: true)
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
    case .lowercase: Message("Lowercase character required")
    case .uppercase: Message("Uppercase character required")
    case .digit: Message("Numeric character required")
    case .symbol: Message("Non-alphanumeric character required")
    }
  }

  fileprivate var hint: Message {
    switch self {
    case .lowercase: Message("a to z")
    case .uppercase: Message("A to Z")
    case .digit: Message("0 to 9")
    case .symbol: .verbatim(PasswordPolicy.symbols.map(String.init).joined(separator: " "))
    }
  }

  fileprivate var noun: Message {
    switch self {
    case .lowercase: Message("a lowercase character")
    case .uppercase: Message("an uppercase character")
    case .digit: Message("a numeric character")
    case .symbol: Message("a non-alphanumeric character")
    }
  }
}

extension PasswordPolicy {
  var formatted: Message {
    let least = Message(
      one: "at least {count} character", other: "at least {count} characters",
      ["count": .number(shortestInForce)])
    guard isEnforced || self != PasswordPolicy() else { return least }
    var parts = [least]
    if let longest {
      parts.append(Message("at most {number}", ["number": .number(longest)]))
    }
    parts += CharacterClass.allCases.filter(classes.contains).map(\.noun)
    if refusesCommon { parts.append(Message("no common passwords")) }
    if forcesUpgrade { parts.append(Message("forced upgrade on sign-in")) }
    if !isEnforced { parts.append(Message("not enforced (Notify)")) }
    return .value(.sequence(parts))
  }

  static func sentence(_ missing: [PasswordRequirement]) -> Message {
    let parts: [Message] = missing.compactMap { requirement in
      switch requirement {
      case .atLeast(let count):
        Message(
          one: "at least {count} character",
          other: "at least {count} characters", ["count": .number(count)])
      case .atMost(let count):
        Message(
          one: "at most {count} character",
          other: "at most {count} characters", ["count": .number(count)])
      case .character(let kind): kind.noun
      case .uncommon: nil
      }
    }
    guard missing.contains(.uncommon) else {
      return Message("Passwords must have: {requirements}.", ["requirements": .sequence(parts)])
    }
    guard !parts.isEmpty else { return Message("This is a common password. Choose another one.") }
    return Message(
      "Passwords must have: {requirements}. Common passwords are refused.",
      ["requirements": .sequence(parts)])
  }
}
