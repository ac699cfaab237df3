import HTTP
import Identity
import Localization
import Templating

/// `S/settings/support`: the rules for support agents of a pool.
struct SupportRulesPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SupportRulesView>

  private static let historyLength = 10

  func show(_ context: PoolContext) async throws -> Response {
    let settings = try await identity.support.settings(context.pool)
    return try await page(context, SupportRulesForm(settings))
  }

  func change(_ context: PoolContext) async throws -> Response {
    let signedIn = context.signedIn
    var answers = SupportRulesForm(signedIn.form)
    let outcome: ActionOutcome<Bool>
    do {
      outcome = try await identity.support.change(
        context.pool, to: answers.settings, expecting: answers.version,
        by: .console(ActionInput(signedIn.form).request(signedIn)))
    } catch SupportRulesError.changedMeanwhile(let current) {
      answers.version = current.version
      return try await page(
        context, answers, status: .conflict, replacing: SupportRulesForm(current))
    } catch let denial as ActionDenial {
      let faults = try ActionErrorText.settingsFaults(denial, signedIn.times, .editSupportRules)
      return try await page(context, answers, status: .unprocessableContent, errors: faults)
    }
    return frames.leave(
      Flash(
        text: outcome.value
          ? Message("Support rules saved.") : Message("No changes made.")),
      signedIn, renewed: outcome.renewed, to: ConsolePaths.supportRules(context.pool))
  }

  private func page(
    _ context: PoolContext, _ answers: SupportRulesForm, status: Status = .ok,
    errors: [FieldError] = [], replacing current: SupportRulesForm? = nil
  ) async throws -> Response {
    let pool = context.pool
    let session = context.signedIn.session
    let asksForCode = try await identity.support.asksForCode(session)
    let frame = try await frames.frame(
      Message("Support rules · Settings"), in: context, errors: errors)
    var history: [AuditRow]?
    if context.may(.readAudit) {
      var filter = AuditFilter(pool: pool)
      filter.action = .any(AuditGroup.support.actions)
      let asked = filter
      history = try await identity.audit.list(asked, limit: Self.historyLength).items
    }
    let model = SupportRulesView(
      frame: FrameView(frame), context: context, answers: answers, current: current,
      asksForCode: asksForCode, history: history)
    return .html(view.render(model), status: status)
  }
}

struct SupportRulesView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let answers: SupportRulesForm
  /// The rules that someone else saved after the form was opened; nil if no one did.
  let current: SupportRulesForm?
  let asksForCode: Bool
  let history: [AuditRow]?

  private var isOffered: Bool { context.may(.editSupportRules) }

  private var refusal: Notice? {
    isOffered ? Notice(lackingCode: asksForCode, context.signedIn) : nil
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.context.pool.name },
    .text("action") { ConsolePaths.supportRules($0.context.pool) },
    .text("back") { ConsolePaths.overview($0.context.pool) },
    .flag("mayChange") { $0.isOffered && $0.refusal == nil },
    .text("roles") { _ in Message.value(Permission.editSupportRules.roleNames) },
    .flag("isForOthers") { !$0.isOffered },
    .optional("refusal") { $0.refusal },
    .optional("codeField") {
      CodeField(
        $0.asksForCode, $0.frame, action: ConsolePaths.supportRules($0.context.pool))
    },
    .text("settingsVersion") { $0.answers.version.text },
    .optional("conflict") { view in
      view.current.map { current in
        SettingsConflict(
          Message("These support rules changed while you were editing."),
          current: SupportRulesSection.all(current).flatMap(\.facts),
          entered: SupportRulesSection.all(view.answers).flatMap(\.facts),
          discard: ConsolePaths.supportRules(view.context.pool))
      }
    },
    .list("sections") { view in
      SupportRulesSection.all(view.answers).map { section -> SupportRulesSection in
        var section = section
        section.fields = section.fields.map { $0.shown(nil, view.frame) }
        return section
      }
    },
    .flag("showsHistory") { $0.history != nil },
    .flag("hasHistory") { !($0.history ?? []).isEmpty },
    .list("history") { $0.frame.history($0.history) },
  ]
}

extension CallerVerification {
  var label: Message {
    switch self {
    case .off: Message("Off")
    case .offered: Message("Offer a code by email")
    case .required: Message("Require a code by email")
    }
  }
}

/// Support rules that belong together, as fields and as facts.
struct SupportRulesSection: ViewModel {
  let id: String
  let heading: Message
  var fields: [Field]
  let facts: [Fact]

  static let keys: Keys<Self> = [
    .text(\.id),
    .text(\.heading),
    .list(\.fields),
    .list(\.facts),
  ]

  static func all(_ answers: SupportRulesForm) -> [SupportRulesSection] {
    [callers(answers), codes(answers), removals(answers), policy(answers), api(answers)]
  }

  private init(
    _ id: String, _ heading: Message, _ answers: SupportRulesForm, _ fields: [Field],
    facts: (([Field]) -> [Fact])? = nil
  ) {
    self.id = id
    self.heading = heading
    self.fields = fields.map { $0.filled(answers.form) }
    self.facts = facts?(self.fields) ?? self.fields.map(Self.fact)
  }

  private static var protectors: Message.Value { Permission.protectUsers.roleNames }

  private static func callers(_ answers: SupportRulesForm) -> SupportRulesSection {
    let fields: [Field] = [
      .area(
        "identity-proof", Message("Identity checks <span class=\"soft\">(optional)</span>"),
        hint: Message(
          """
          One check per line, for example, “called back on the number on file”. Agents must \
          confirm every check before each action. At most {mostProofs} lines of {longestProof} \
          characters, saved to the audit log.
          """,
          [
            "mostProofs": .number(SupportRules.mostProofs),
            "longestProof": .number(SupportRules.longestProof),
          ]), #" rows="4""#, detectsDirection: true),
      .menu(
        "caller-verification", Message("Caller verification"),
        hint: Message(
          """
          Agents send a code to the user’s verified email address, and the caller reads it to \
          them. When required, agents can’t restore access without this code. If the user has no \
          verified email address, removing second factors requires approval instead, as do bulk \
          removals and enrollment links to many users. Changing this requires the \
          {protectorRoles} role.
          """, ["protectorRoles": protectors]),
        CallerVerification.allCases.map { Field.Option(value: $0.rawValue, label: $0.label) }),
      .line(
        "actions-per-hour", Message("Actions per hour"),
        hint: Message(
          """
          1 to 1,000 per agent. An agent who exceeds the limit is blocked. Unblocking them \
          requires the {roles} role.
          """, ["roles": protectors]), Field.Look.number),
    ]
    return SupportRulesSection("callers", Message("Agents and callers"), answers, fields) {
      fields in
      let proof = fields[0].value.split(whereSeparator: \.isNewline).joined(separator: "; ")
      return [
        Fact(
          Message("Identity checks"),
          proof.isEmpty ? Markup(escaping: Message("None")) : HTML.isolated(proof)),
        Fact(
          Message("Caller verification"),
          (CallerVerification(rawValue: fields[1].value) ?? .off).label),
        fact(fields[2]),
      ]
    }
  }

  private static func codes(_ answers: SupportRulesForm) -> SupportRulesSection {
    let fields: [Field] = [
      .line(
        "code-cap", Message("Incorrect codes before lockout"),
        hint: Message(
          """
          5 to 100 in a row. Starting with the fifth, codes are blocked temporarily. After this \
          many, they’re locked until an administrator unlocks them.
          """), Field.Look.number),
      .line(
        "code-attempt-days", Message("Code attempt log retention (days)"),
        hint: Message("1 to 400. After that, only daily totals are kept."), Field.Look.number),
      .check(
        "temporary-codes", Message("Temporary codes"),
        hint: Message(
          """
          Agents can generate a single-use code for a user who lost their device. Valid for at \
          most one day.
          """)),
      .check(
        "recovery-codes", Message("Recovery codes"),
        hint: Message("Users can save a set of codes to use if they lose their device.")),
      .check(
        "resynchronization", Message("Resynchronization"),
        hint: Message(
          """
          Agents can resynchronize an authenticator whose clock can’t be set, such as a hardware \
          token, with two of its codes.
          """)),
    ]
    return SupportRulesSection("codes", Message("Codes"), answers, fields)
  }

  private static func removals(_ answers: SupportRulesForm) -> SupportRulesSection {
    let fields: [Field] = [
      .line(
        "undo-hours", Message("Undo period for removals (hours)"),
        hint: Message(
          """
          0 to 720. How long another administrator can undo a removal. Enter 0 for never. \
          Removals for “Stolen device” or “Compromised” can’t be undone.
          """), Field.Look.number),
      .line(
        "approval-over-users",
        Message(
          """
          Require approval for bulk removals or enrollment links of more than … users <span \
          class="soft">(optional)</span>
          """),
        hint: Message("Leave empty to never require approval, or enter 0 to always require it."),
        Field.Look.number),
      .check(
        "approval-for-last-factor", Message("Approval for removing a user’s last factor"),
        hint: Message(
          """
          Where enrollment is mandatory, a second administrator must approve the removal of a \
          user’s last second factor.
          """)),
    ]
    return SupportRulesSection("removals", Message("Factor removals"), answers, fields) { fields in
      [
        fact(fields[0]),
        Fact(
          Message("Approval of bulk removals"),
          limit(fields[1].value, without: Message("Never")) {
            Message(
              one: "More than {count} user", other: "More than {count} users",
              ["count": .number($0)])
          }),
        fact(fields[2]),
      ]
    }
  }

  private static func policy(_ answers: SupportRulesForm) -> SupportRulesSection {
    let fields: [Field] = [
      .line(
        "policy-approval-over-users",
        Message(
          """
          Require approval if a weaker policy affects more than … users <span \
          class="soft">(optional)</span>
          """),
        hint: Message(
          """
          Leave empty to never require approval, or enter 0 to require it whenever a user is \
          affected. Raising or removing the limit requires the {protectorRoles} role. Changes \
          through the REST API don’t require approval.
          """, ["protectorRoles": protectors]), Field.Look.number),
      .line(
        "sign-in-goal", Message("Recommendation target: sign-ins kept (%)"),
        hint: Message(
          """
          90 to 100. The recommended window on the MFA policy page is the smallest one that keeps \
          at least this share of sign-ins.
          """), #" class="medium" inputmode="decimal" autocomplete="off""#),
    ]
    return SupportRulesSection("policy", Message("MFA policy"), answers, fields) { fields in
      [
        Fact(
          Message("Approval of a weaker policy"),
          limit(fields[0].value, without: Message("Never")) {
            Message(
              one: "More than {count} affected user", other: "More than {count} affected users",
              ["count": .number($0)])
          }),
        fact(fields[1]),
      ]
    }
  }

  private static func api(_ answers: SupportRulesForm) -> SupportRulesSection {
    let fields: [Field] = [
      .line(
        "token-changes-per-hour",
        Message(
          "Hourly factor changes per service token <span class=\"soft\">(optional)</span>"),
        hint: Message(
          """
          The number of users whose second factors one token can change per hour. Leave empty for \
          no limit. New users in imports aren’t counted.
          """), Field.Look.number),
      .check(
        "tokens-remove-factors", Message("Factor removal by service tokens"),
        hint: Message(
          """
          When off, REST API calls and imports can’t remove users’ second factors, or delete \
          users who have one.
          """)),
    ]
    return SupportRulesSection("api", Message("REST API"), answers, fields) { fields in
      [
        Fact(
          Message("Hourly factor changes per service token"),
          limit(fields[0].value, without: Message("No limit")) {
            Message(one: "{count} user", other: "{count} users", ["count": .number($0)])
          }),
        fact(fields[1]),
      ]
    }
  }

  private static func fact(_ field: Field) -> Fact {
    guard field.control == .check else { return Fact(field.label, Message.verbatim(field.value)) }
    return Fact(field.label, field.isOn ? Message("On") : Message("Off"))
  }

  /// Returns a limit in words; text that isn't a number stays as entered.
  private static func limit(
    _ entered: String, without none: Message, _ words: (Int) -> Message
  ) -> Message {
    entered.isEmpty ? none : Int(entered).map(words) ?? .verbatim(entered)
  }
}
