import Identity
import Localization
import Templating

/// The support rules of a pool by what they're about.
struct SupportRulesSections {
  private let answers: SupportRulesForm
  private let stored: SupportRulesForm

  static func all(_ answers: SupportRulesForm, over stored: SupportRulesForm) -> [SettingsSection] {
    let sections = SupportRulesSections(answers: answers, stored: stored)
    return [sections.callers, sections.codes, sections.removals, sections.policy, sections.api]
  }

  private func section(
    _ id: String, _ heading: Message, _ fields: [Field], _ facts: ([Field]) -> [Fact]
  ) -> SettingsSection {
    let filled = fields.map { $0.filled(answers.form).over($0.filled(stored.form).current) }
    return SettingsSection(id: id, heading: heading, fields: filled, facts: facts(filled))
  }

  private static var protectors: Message.Value { Permission.protectUsers.roleNames }

  private var callers: SettingsSection {
    let fields: [Field] = [
      .area(
        "identity-proof", Message("Identity checks <span class=\"soft\">(optional)</span>"),
        hint: Message(
          """
          One per line; agents confirm each of them before an action. At most {mostProofs} lines \
          of {longestProof} characters.
          """,
          [
            "mostProofs": .number(SupportRules.mostProofs),
            "longestProof": .number(SupportRules.longestProof),
          ]), #" rows="3""#, detectsDirection: true),
      .menu(
        "caller-verification", Message("Caller verification"),
        hint: Message(
          """
          The caller reads a code from their email. If it’s required and the user’s address isn’t \
          verified, removals and enrollment campaigns need approval. Changing this requires the \
          {protectorRoles} role.
          """, ["protectorRoles": Self.protectors]),
        CallerVerification.allCases.map { Field.Option(value: $0.rawValue, label: $0.label) }),
      .line(
        "actions-per-hour", Message("Actions per hour"),
        hint: Message(
          "1 to 1,000. Above it, the agent is blocked. Unblocking requires the {roles} role.",
          ["roles": Self.protectors]), Field.Look.figure
      ).counting(Message("per agent")),
    ]
    return section("callers", Message("Agents and callers"), fields) { fields in
      let proof = fields[0].value.split(whereSeparator: \.isNewline).joined(separator: "; ")
      return [
        Fact(
          Message("Identity checks"),
          proof.isEmpty ? Markup(escaping: Message("None")) : HTML.isolated(proof)),
        Fact(
          Message("Caller verification"),
          (CallerVerification(rawValue: fields[1].value) ?? .off).label),
        Self.fact(fields[2]),
      ]
    }
  }

  private var codes: SettingsSection {
    let fields: [Field] = [
      .line(
        "code-cap", Message("Lockout after"), hint: Message("5 to 100 in a row"),
        Field.Look.figure
      ).counting(Message("incorrect codes")),
      .line(
        "code-attempt-days", Message("Keep code attempts"),
        hint: Message("1 to 400; then only daily totals"), Field.Look.figure
      ).counting(Message("days")),
      .check(
        "temporary-codes", Message("Temporary codes"), hint: Message("Single use, at most one day")),
      .check(
        "recovery-codes", Message("Recovery codes"), hint: Message("Users save a set of codes")),
      .check(
        "resynchronization", Message("Resynchronization"),
        hint: Message("For clocks that can’t be set, with two codes")),
    ]
    return section("codes", Message("Codes"), fields) { $0.map(Self.fact) }
  }

  private var removals: SettingsSection {
    let fields: [Field] = [
      .line(
        "undo-hours", Message("Undo removals"),
        hint: Message("0 to 720. Never for stolen or compromised devices."), Field.Look.figure
      ).counting(Message("hours")),
      .line(
        "approval-over-users", Message("Approve actions on more than"),
        hint: Message("Empty: never. 0: always."), Field.Look.figure
      ).counting(Message("users")),
      .check(
        "approval-for-last-factor", Message("Approve removing the last factor"),
        hint: Message("Where enrollment is mandatory")),
    ]
    return section("removals", Message("Factor removals"), fields) { fields in
      [
        Self.fact(fields[0]),
        Fact(
          Message("Approval of actions on many users"),
          Self.limit(fields[1].value, without: Message("Never")) {
            Message(
              one: "More than {count} user", other: "More than {count} users",
              ["count": .number($0)])
          }),
        Self.fact(fields[2]),
      ]
    }
  }

  private var policy: SettingsSection {
    let fields: [Field] = [
      .line(
        "policy-approval-over-users", Message("Approve a policy that’s weaker for more than"),
        hint: Message(
          """
          Empty: never. 0: always. Raising it requires the {protectorRoles} role. The REST API \
          needs no approval.
          """, ["protectorRoles": Self.protectors]), Field.Look.figure
      ).counting(Message("users")),
      .line(
        "sign-in-goal", Message("Recommended window keeps"), hint: Message("90 to 100"),
        #" class="short num" inputmode="decimal" autocomplete="off""#
      ).counting(Message("% of sign-ins")),
    ]
    return section("policy", Message("MFA policy"), fields) { fields in
      [
        Fact(
          Message("Approval of a weaker policy"),
          Self.limit(fields[0].value, without: Message("Never")) {
            Message(
              one: "More than {count} affected user", other: "More than {count} affected users",
              ["count": .number($0)])
          }),
        Self.fact(fields[1]),
      ]
    }
  }

  private var api: SettingsSection {
    let fields: [Field] = [
      .line(
        "token-changes-per-hour", Message("Users with changed factors"),
        hint: Message("Empty: no limit. New users in imports aren’t counted."), Field.Look.figure
      ).counting(Message("per hour and token")),
      .check(
        "tokens-remove-factors", Message("Factor removal by service tokens"),
        hint: Message(
          "Off: calls and imports can’t remove factors, or delete users who have one.")),
    ]
    return section("api", Message("REST API"), fields) { fields in
      [
        Fact(
          Message("Hourly factor changes per service token"),
          Self.limit(fields[0].value, without: Message("No limit")) {
            Message(one: "{count} user", other: "{count} users", ["count": .number($0)])
          }),
        Self.fact(fields[1]),
      ]
    }
  }

  private static func fact(_ field: Field) -> Fact {
    guard field.control != .check else {
      return Fact(field.label, field.isOn ? Message("On") : Message("Off"))
    }
    guard let unit = field.unit else { return Fact(field.label, .verbatim(field.value)) }
    return Fact(field.label, "\(field.value) \(unit)" as Markup)
  }

  /// Returns a limit in words; text that isn't a number stays as entered.
  private static func limit(
    _ entered: String, without none: Message, _ words: (Int) -> Message
  ) -> Message {
    entered.isEmpty ? none : Int(entered).map(words) ?? .verbatim(entered)
  }
}
