import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/administrators/{id}`: an administrator's roles, account, and history.
struct AdministratorPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<AdministratorView>

  func show(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    try await page(signedIn, id, GrantAnswers(), errors: [])
  }

  func grant(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    let answers = GrantAnswers(signedIn.form)
    let (typed, faults) = answers.grant()
    let (end, endFaults) = answers.end(try signedIn.formTimes)
    guard let grant = typed, endFaults.isEmpty else {
      let errors = faults + endFaults + (try await actions.unmet(.grantRole, signedIn))
      return try await page(signedIn, id, answers, errors: errors)
    }
    do {
      let outcome = try await identity.administrators.grant(
        grant, until: end, to: ID(id), by: .console(actions.request(signedIn)))
      let role = Message.Value.message(grant.role.name)
      let place = Message.Value.message(grant.placeText)
      return actions.leave(
        outcome.value
          ? Message(
            "Granted: {role} ({place}). Effective immediately.", ["role": role, "place": place])
          : Message(
            "No changes made. They already have this role: {role} ({place}).",
            ["role": role, "place": place]),
        signedIn, after: outcome, to: ConsolePaths.administrator(id))
    } catch {
      let errors = try await actions.faults(error, .grantRole, signedIn) {
        (error: ManagementError) in try error.fault(answers)
      }
      return try await page(signedIn, id, answers, errors: errors)
    }
  }

  /// `/administrators/{id}/grants/removal`: asks for confirmation before a role is revoked.
  func askForRevocation(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    try await askForRevocation(signedIn, id, GrantAnswers(signedIn.query), errors: [])
  }

  private func askForRevocation(
    _ signedIn: SignedIn, _ id: String, _ answers: GrantAnswers, errors: [FieldError]
  ) async throws -> Response {
    let record = try await identity.administrators.record(ID(id))
    let administrator = record.administrator
    guard let grant = record.changeable(answers, by: signedIn) else {
      return .redirect(to: ConsolePaths.administrator(id))
    }
    let tokens = try await identity.serviceTokens.count(madeBy: administrator.id)
    let (name, button) = (administrator.short, Message("Revoke role"))
    var consequences = [
      Message(
        "{name} loses this role immediately, including in open sessions: {role} ({place}).",
        [
          "name": name, "role": .message(grant.role.name), "place": .message(grant.placeText),
        ])
    ]
    if record.groupGrants.contains(grant) {
      consequences.append(
        Message(
          """
          A group at the sign-in provider grants this role again at their next sign-in. To prevent \
          that, remove them from the group, or change the group’s role.
          """))
    }
    if administrator.grants.count == 1 {
      consequences.append(
        Message("This is their only role. They can still sign in, but see only their own account."))
    }
    if tokens > 0 {
      consequences.append(
        Message("Service tokens they created that exceed their remaining roles are revoked."))
    }
    let page = FormPage(
      title: administrator.title(button),
      crumbs: administrator.crumbs,
      heading: Message("Revoke a role from {name}?", ["name": name]), consequences: consequences,
      isQuestion: true, hidden: answers.fields, button: button, isDestructive: true,
      keep: Message("Keep role"), back: ConsolePaths.administrator(id),
      factsHeading: Message("This administrator"),
      facts: [
        Fact(Message("Email"), HTML.isolated(administrator.email)),
        Fact(
          Message("Roles"),
          administrator.grants.cell(until: record.grantEnds, signedIn.times)),
      ])
    return try await actions.show(
      page, of: .revokeRole, in: signedIn, at: ConsolePaths.grantRemoval(id), errors: errors)
  }

  func revoke(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    let answers = GrantAnswers(signedIn.form)
    let (typed, errors) = answers.grant()
    guard let grant = typed else { return try await page(signedIn, id, answers, errors: errors) }
    _ = try await identity.administrators.record(ID(id))
    do {
      let outcome = try await identity.administrators.revoke(
        grant, from: ID(id), by: .console(actions.request(signedIn)))
      return actions.leave(
        Self.revoked(grant, tokens: outcome.value), signedIn, after: outcome,
        to: ConsolePaths.administrator(id))
    } catch CallError.notFound {
      return frames.leave(
        Message("No changes made. They no longer have this role."), for: signedIn,
        to: ConsolePaths.administrator(id))
    } catch {
      let errors = try await actions.faults(error, .revokeRole, signedIn) {
        (error: ManagementError) in try error.fault(answers)
      }
      guard error is ActionDenial else {
        return try await page(signedIn, id, GrantAnswers(), errors: errors)
      }
      return try await askForRevocation(signedIn, id, answers, errors: errors)
    }
  }

  private static func revoked(_ grant: Grant, tokens: Int) -> Message {
    let role = Message.Value.message(grant.role.name)
    let place = Message.Value.message(grant.placeText)
    return tokens == 0
      ? Message(
        "Revoked: {role} ({place}). Effective immediately.", ["role": role, "place": place])
      : Message(
        one: """
          Revoked: {role} ({place}). Effective immediately. {count} service token they created \
          was revoked.
          """,
        other: """
          Revoked: {role} ({place}). Effective immediately. {count} service tokens they created \
          were revoked.
          """,
        ["role": role, "place": place, "count": .number(tokens)])
  }

  private func page(
    _ signedIn: SignedIn, _ id: String, _ answers: GrantAnswers, errors: [FieldError]
  ) async throws -> Response {
    let record = try await identity.administrators.record(ID(id))
    let history = try await identity.administrators.history(of: record.administrator.id)
    let isOff =
      try await identity.consoleProviders.breakGlassAccount() != nil
    let mayChange =
      signedIn.administrator.may(.manageAdministrators, in: nil)
      && record.administrator.id != signedIn.administrator.id
    let places =
      mayChange ? try await Places(identity: identity).few(for: signedIn.administrator) : nil
    let frameView = FrameView(
      await frames.frame(
        Message("{title} · Administrators", ["title": record.administrator.short]), for: signedIn,
        crumbs: [
          Link(text: Message("Administrators"), href: ConsolePaths.administrators())
        ], errors: errors))
    let model = AdministratorView(
      frame: frameView, signedIn: signedIn, record: record,
      pools: try await identity.pools.pools(of: record.administrator.grants),
      mayChange: mayChange,
      isPasswordSignInOff: isOff, history: history,
      fields: answers.fields(in: places, try signedIn.formTimes, at: frames.clock.now()).map {
        $0.shown(nil, frameView)
      },
      authorization: try await actions.fields(.grantRole, signedIn, frameView))
    return .html(view.render(model), errors: errors)
  }
}

extension AdministratorRecord {
  /// The role that a form names; nil if the administrator doesn't have it, or would change a role
  /// of their own.
  func changeable(_ answers: GrantAnswers, by signedIn: SignedIn) -> Grant? {
    guard let grant = answers.grant().grant, administrator.grants.contains(grant),
      administrator.id != signedIn.administrator.id
    else { return nil }
    return grant
  }
}

struct AdministratorView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  let record: AdministratorRecord
  let pools: [Grant: Pool]
  let mayChange: Bool
  /// Whether only the break-glass account signs in with a password or passkey.
  let isPasswordSignInOff: Bool
  let history: [AuditRow]
  let fields: [Field]
  let authorization: ActionFields

  private var id: String { record.administrator.id.text }

  private var wayBack: Message {
    let roles = Permission.manageAdministrators.roleNames
    return switch (record.hasOwnSignIn, mayChange) {
    case (true, true):
      Message(
        """
        This administrator can’t sign in: password sign-in is off, and their account isn’t linked \
        with the sign-in provider. Turn on password sign-in so that they can sign in and link their \
        account. Or remove them, which revokes their roles and service tokens, and have them sign \
        in with the provider.
        """)
    case (true, false):
      Message(
        """
        This administrator can’t sign in: password sign-in is off, and their account isn’t linked \
        with the sign-in provider. Turning on password sign-in or removing the account requires \
        the {roles} role.
        """, ["roles": roles])
    case (false, true):
      isPasswordSignInOff
        ? Message(
          """
          This administrator can’t sign in: their account has no password or passkey and isn’t \
          linked with the sign-in provider. Remove them first, which revokes their roles and \
          service tokens. They can then sign in with the provider.
          """)
        : Message(
          """
          This administrator can’t sign in: their account has no password or passkey and isn’t \
          linked with a sign-in provider. Remove them first, which revokes their roles and \
          service tokens. Then invite them again or, if there’s a sign-in provider, have them \
          sign in with it.
          """)
    case (false, false):
      Message(
        """
        This administrator can’t sign in: their account has no password or passkey and isn’t linked \
        with a sign-in provider. The account must be removed first, which requires the \
        {roles} role.
        """, ["roles": roles])
    }
  }

  private var facts: [Fact] {
    var facts = [
      Fact(Message("Email"), HTML.isolated(record.administrator.email)),
      Fact(Message("Created"), frame.times.past(record.createdAt)),
      Fact(
        Message("Last sign-in"),
        record.lastSignInAt.map(frame.times.past) ?? AccountChips.never),
      Fact(
        Message("Second factor"),
        record.hasSecondFactor
          ? Chip.on(record.factorsText) : Chip.off(Message("off"))),
    ]
    facts.add(Message("Set up"), record.enrolledAt.map(frame.times.past))
    facts.add(Message("Last code used"), record.factorUsedAt.map(frame.times.past))
    return facts
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.record.administrator.displayName },
    .flag(\.mayChange),
    .text("ownAccount") {
      $0.record.administrator.id == $0.signedIn.administrator.id ? ConsolePaths.account() : nil
    },
    .text("cantSignIn") { $0.record.canSignIn ? nil : $0.wayBack },
    .list("grants") { view in
      view.record.administrator.grants.map { grant in
        let isFromProvider = view.record.groupGrants.contains(grant)
        return GrantRow(
          grant: grant, pool: view.pools[grant],
          end: view.record.grantEnds[grant], times: view.frame.times,
          isFromProvider: isFromProvider,
          removal: view.mayChange ? ConsolePaths.grantRemoval(view.id) : nil,
          change: view.mayChange && !isFromProvider ? ChangeGrantEnd.path(view.id) : nil)
      }
    },
    .text("action") { ConsolePaths.grants($0.id) },
    .list(\.fields),
    .object(\.authorization),
    .text("sessions") { $0.mayChange ? ConsolePaths.administratorSessions($0.id) : nil },
    .text("reset") {
      $0.mayChange && $0.record.hasSecondFactor ? ResetAdministratorFactor.path($0.id) : nil
    },
    .text("removal") { $0.mayChange ? RemoveAdministrator.path($0.id) : nil },
    .list("facts") { $0.facts },
    .text("audit") { view in
      guard view.signedIn.administrator.may(.readAudit, in: nil) else { return nil }
      return (["kind": "administrator", "object": view.id] as Form).query(
        of: ConsolePaths.instanceAudit())
    },
    .list("history") { $0.frame.history($0.history) },
  ]
}

struct GrantRow: ViewModel {
  let grant: Grant
  /// The project or tenant; nil for the whole instance.
  let pool: Pool?
  let end: Instant?
  let times: Times
  /// Whether the role comes from a group at the sign-in provider.
  let isFromProvider: Bool
  /// The address of the page that revokes the role; nil if the reader isn't allowed to.
  let removal: String?
  /// The address of the page that changes the end date; nil if the reader isn't allowed to.
  let change: String?

  static let keys: Keys<Self> = [
    .text("role") { $0.grant.role.title },
    .text("summary") { $0.grant.role.summary },
    .text("place") { row in
      row.pool.map { .verbatim(ApprovalText.place($0)) }
        ?? (row.grant.project == nil ? Message("The whole instance") : row.grant.placeText)
    },
    .text("placeID") { $0.pool == nil ? nil : $0.grant.placeText },
    .text("source") { $0.isFromProvider ? Message("From the sign-in provider") : nil },
    .markup("end") { row in
      row.end.map(row.times.end) ?? Chip.off(Message("no end date"))
    },
    .text("change") { row in
      row.change.map { GrantAnswers(row.grant).query.query(of: $0) }
    },
    .text("removal") { row in
      row.removal.map { GrantAnswers(row.grant).query.query(of: $0) }
    },
  ]
}
