import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/administrators`: the administrators and pending invitations, and their file.
struct AdministratorsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<AdministratorsView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    let records = try await identity.administrators.records()
    let invitations = try await identity.invitations.list()
    let pools = try await identity.pools.pools(
      of: records.flatMap(\.administrator.grants) + invitations.map(\.grant))
    let frame = await frames.frame(Message("Administrators"), for: signedIn)
    return .html(
      view.render(
        AdministratorsView(
          frame: FrameView(frame), signedIn: signedIn, records: records,
          invitations: invitations, pools: pools)))
  }

  func download(_ signedIn: SignedIn) async throws -> Response {
    let records = try await identity.administrators.records()
    let invitations = try await identity.invitations.list()
    return AdministratorsFile(records, invitations, frames.catalog).csv
      .response(named: "administrators")
  }
}

struct AdministratorsView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  let records: [AdministratorRecord]
  let invitations: [Invitation]
  let pools: [Grant: Pool]

  private var mayManage: Bool {
    signedIn.administrator.may(.manageAdministrators, in: nil)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("file") { _ in ConsolePaths.administratorsFile() },
    .text("newAdministrator") { $0.mayManage ? InviteAdministrator.path() : nil },
    .number("count") { $0.records.count },
    .number("invited") { $0.invitations.count },
    .list("rows") { view in
      view.records.map {
        AdministratorRow(
          record: $0, isOneself: $0.administrator.id == view.signedIn.administrator.id,
          pools: view.pools, times: view.frame.times)
      }
    },
    .list("invitations") { view in
      view.invitations.map {
        InvitationRow(
          invitation: $0, mayManage: view.mayManage, pools: view.pools, times: view.frame.times)
      }
    },
  ]
}

struct AdministratorRow: ViewModel {
  let record: AdministratorRecord
  let isOneself: Bool
  let pools: [Grant: Pool]
  let times: Times

  private var secondFactor: Markup {
    if record.hasSecondFactor { return Chip.on(record.factorsText) }
    let off = Message("off")
    return record.administrator.mustHaveSecondFactor ? Chip.look(off) : Chip.off(off)
  }

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.administrator($0.record.administrator.id.text) },
    .text("name") { $0.record.administrator.displayName },
    .text("email") { $0.record.administrator.email },
    .flag(\.isOneself),
    .markup("roles") {
      $0.record.administrator.grants.cell(in: $0.pools, until: $0.record.grantEnds, $0.times)
    },
    .markup("secondFactor") { $0.secondFactor },
    .markup("lastUsed") { $0.record.lastUsedAt.map($0.times.past) ?? AccountChips.never },
    .markup("state") { $0.record.state.chip },
  ]
}

struct InvitationRow: ViewModel {
  let invitation: Invitation
  let mayManage: Bool
  let pools: [Grant: Pool]
  let times: Times

  static let keys: Keys<Self> = [
    .text("name") { $0.invitation.displayName },
    .text("email") { $0.invitation.email },
    .text("inviter") { $0.invitation.inviterName },
    .markup("roles") { row in
      let (grant, end) = (row.invitation.grant, row.invitation.grantEndsAt)
      return [grant].cell(in: row.pools, until: end.map { [grant: $0] } ?? [:], row.times)
    },
    .markup("until") { $0.times.moment($0.invitation.expiresAt) },
    .text("removal") { row in
      row.mayManage ? RevokeInvitation.path(row.invitation.id.text) : nil
    },
  ]
}

extension AdministratorRecord {
  var factorsText: Message {
    let passkeys = Message(
      one: "{count} passkey", other: "{count} passkeys", ["count": .number(self.passkeys)])
    guard factors.contains(.totp) else { return passkeys }
    let app = Factor.Kind.totp.name
    guard factors.contains(.passkey) else { return app }
    return .value(.sequence([app, passkeys]))
  }

  var state: (text: Message, chip: Markup) {
    func state(_ text: Message, _ chip: (Message) -> Markup) -> (text: Message, chip: Markup) {
      (text, chip(text))
    }
    if !canSignIn { return state(Message("can’t sign in"), Chip.bad) }
    if administrator.grants.isEmpty { return state(Message("no role"), Chip.look) }
    if lastSignInAt == nil { return state(Message("never signed in"), Chip.off) }
    return state(Message("active"), Chip.on)
  }
}

/// The administrators and pending invitations as a file, with a row for each role.
struct AdministratorsFile {
  private(set) var csv: CSV
  private let catalog: Catalog

  init(_ records: [AdministratorRecord], _ invitations: [Invitation], _ catalog: Catalog) {
    self.catalog = catalog
    csv = CSV(
      [
        Message("Administrator"), Message("Email"), Message("Role"),
        Message("Project or tenant"), Message("Ends"),
        Message("Second factor"), Message("Last used"), Message("State"),
      ].map(catalog.text))
    for record in records { add(record) }
    for invitation in invitations {
      csv.add(
        [invitation.displayName, invitation.email]
          + texts(invitation.grant, until: invitation.grantEndsAt)
          + ["", "", catalog.text(Message("invited"))])
    }
  }

  private mutating func add(_ record: AdministratorRecord) {
    let who = record.administrator
    let grants: [Grant?] = who.grants.isEmpty ? [nil] : who.grants
    for grant in grants {
      csv.add(
        [who.displayName, who.email]
          + texts(grant, until: grant.flatMap { record.grantEnds[$0] })
          + [
            catalog.text(record.hasSecondFactor ? record.factorsText : Message("off")),
            record.lastUsedAt?.rfc3339Milliseconds ?? "", catalog.text(record.state.text),
          ])
    }
  }

  private func texts(_ grant: Grant?, until end: Instant?) -> [String] {
    [
      grant.map { catalog.text($0.role.title) } ?? "",
      grant.map { catalog.text($0.placeText) } ?? "", end?.rfc3339Milliseconds ?? "",
    ]
  }
}

enum AdministratorsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let list = try parts.page("administrators/administrators", AdministratorsPage.init)
    table.signedIn(ConsolePaths.administrators, .get(.seeAdministrators), list.show)
    table.signedIn(ConsolePaths.administratorsFile, .get(.seeAdministrators), list.download)

    let settings = try parts.page("administrators/instance-settings", InstanceSettingsPage.init)
    table.signedIn(ConsolePaths.instanceSettings, .get(.seeAdministrators)) {
      try await settings.page($0)
    }
    table.signedIn(
      ConsolePaths.stepUp, .performing(.changeReauthenticationInterval), settings.setStepUp)

    let requirement = try parts.page("passkeys/requirement", PasskeyRequirementPage.init)
    table.signedIn(ConsolePaths.passkeyRequirement, .get(.manageAdministrators)) {
      try await requirement.page($0)
    }
    table.signedIn(
      ConsolePaths.passkeyRequirement, .performing(.changePasskeyRequirement), requirement.change)

    table.add(RevokeInvitation(invitations: identity.invitations), parts.actions)

    let invite = InviteAdministrator(
      identity: identity, publicURL: parts.authorizer.publicURL,
      created: try parts.template("administrators/created"))
    table.add(invite, parts.actions)

    let one = try parts.page("administrators/administrator", AdministratorPage.init)
    table.signedIn(ConsolePaths.administrator, .get(.seeAdministrators), one.show)
    table.signedIn(ConsolePaths.grants, .performing(.grantRole), one.grant)
    table.signedIn(ConsolePaths.grantRemoval, .get(.manageAdministrators), one.askForRevocation)
    table.signedIn(ConsolePaths.grantRemoval, .performing(.revokeRole), one.revoke)

    table.add(ChangeGrantEnd(identity: identity), parts.actions)

    let sessions = try parts.page("administrators/sessions", AdministratorSessionsPage.init)
    table.signedIn(ConsolePaths.administratorSessions, .get(.manageAdministrators), sessions.show)
    table.signedIn(
      ConsolePaths.administratorSessions, .performing(.endAdministratorSessions), sessions.end)
    table.signedIn(
      ConsolePaths.administratorSessionsRemoval, .performing(.endAdministratorSessions),
      sessions.endAll)

    table.add(ChangeSessionLimits(sessions: identity.consoleSessions), parts.actions)
    table.add(ResetAdministratorFactor(identity: identity), parts.actions)
    table.add(RemoveAdministrator(identity: identity), parts.actions)

    let invitation = try parts.page("administrators/invitation", InvitationPage.init)
    table.open(.get, ConsolePaths.invitation, invitation.show)
    table.open(.post, ConsolePaths.invitation, invitation.accept)
  }
}

extension ConsolePaths {
  static let invitation = Path("invitation")
  static let administrators = Path("administrators")
  static let administratorsFile = Path("administrators.csv")
  static let administrator = Path("administrators", nil, parameters: String.self)
  static let grants = Path("administrators", nil, "grants", parameters: String.self)
  static let grantRemoval = Path(
    "administrators", nil, "grants", "removal", parameters: String.self)
  static let administratorSessions = Path(
    "administrators", nil, "sessions", parameters: String.self)
  static let administratorSessionsRemoval = Path(
    "administrators", nil, "sessions", "removal", parameters: String.self)
}
