import HTTP
import Identity

enum AdministratorsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let list = AdministratorsPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("administrators/administrators", for: AdministratorsView.self))
    table.signedIn(.get, ConsolePaths.administrators, .seeAdministrators, list.show)
    table.signedIn(.get, ConsolePaths.administratorsFile, .seeAdministrators, list.download)
    table.signedIn(
      ConsolePaths.stepUp, performing: [.changeReauthenticationInterval], list.setStepUp)
    table.signedIn(
      ConsolePaths.invitationRemoval,
      performing: RevokeInvitation(invitations: identity.invitations), parts.actions)

    let invite = InviteAdministrator(
      identity: identity, publicURL: parts.authorizer.publicURL,
      created: try parts.template("administrators/created", for: CreatedInvitationView.self))
    table.signedIn(ConsolePaths.newAdministrator, performing: invite, parts.actions)

    let one = AdministratorPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("administrators/administrator", for: AdministratorView.self))
    table.signedIn(.get, ConsolePaths.administrator, .seeAdministrators, one.show)
    table.signedIn(ConsolePaths.grants, performing: [.grantRole], one.grant)
    table.signedIn(
      .get, ConsolePaths.grantRemoval, .manageAdministrators, one.askForRevocation)
    table.signedIn(ConsolePaths.grantRemoval, performing: [.revokeRole], one.revoke)

    table.signedIn(
      ConsolePaths.grantEnd, performing: ChangeGrantEnd(identity: identity), parts.actions)

    let sessions = AdministratorSessionsPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("administrators/sessions", for: AdministratorSessionsView.self))
    table.signedIn(
      .get, ConsolePaths.administratorSessions, .manageAdministrators, sessions.show)
    table.signedIn(
      ConsolePaths.administratorSessions, performing: [.endAdministratorSessions], sessions.end)
    table.signedIn(
      ConsolePaths.administratorSessionsRemoval, performing: [.endAdministratorSessions],
      sessions.endAll)

    table.signedIn(
      ConsolePaths.sessionLimits,
      performing: ChangeSessionLimits(sessions: identity.consoleSessions), parts.actions)

    table.signedIn(
      ConsolePaths.factorReset, performing: ActOnAdministrator(kind: .reset, identity: identity),
      parts.actions)
    table.signedIn(
      ConsolePaths.administratorRemoval,
      performing: ActOnAdministrator(kind: .remove, identity: identity), parts.actions)

    let invitation = InvitationPage(
      invitations: identity.invitations, providers: identity.consoleProviders,
      authorizer: parts.authorizer, frames: frames,
      view: try parts.template("administrators/invitation", for: InvitationView.self))
    table.open(.get, ConsolePaths.invitation, invitation.show)
    table.open(.post, ConsolePaths.invitation, invitation.accept)
  }
}

extension ConsolePaths {
  static let invitation = Path("invitation")
  static let administrators = Path("administrators")
  static let administratorsFile = Path("administrators.csv")
  static let sessionLimits = Path("administrators", "session-limits")
  static let newAdministrator = Path("administrators", "new")
  static let administrator = Path("administrators", nil, parameters: String.self)
  static let grants = Path("administrators", nil, "grants", parameters: String.self)
  static let grantRemoval = Path(
    "administrators", nil, "grants", "removal", parameters: String.self)
  static let grantEnd = Path("administrators", nil, "grants", "end", parameters: String.self)
  static let administratorSessions = Path(
    "administrators", nil, "sessions", parameters: String.self)
  static let administratorSessionsRemoval = Path(
    "administrators", nil, "sessions", "removal", parameters: String.self)
  static let factorReset = Path("administrators", nil, "factor-reset", parameters: String.self)
  static let administratorRemoval = Path("administrators", nil, "removal", parameters: String.self)
  static let invitationRemoval = Path("invitations", nil, "removal", parameters: String.self)
}
