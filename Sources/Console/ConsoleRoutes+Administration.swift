import HTTP
import Identity
import Templating

extension ConsoleRoutes {
  /// Adds the pages of administrators and of the signed-in administrator's own account.
  static func addAdministration(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ frames: Frames, _ actions: ActionForms, _ gate: Gate
  ) throws {
    let list = AdministratorsPage(
      identity: identity, actions: actions,
      view: try templates.template("administrators/administrators", for: AdministratorsView.self))
    table.signedIn(.get, ConsolePaths.administrators, .seeAdministrators, list.show)
    table.signedIn(
      ConsolePaths.stepUp, performing: [.changeReauthenticationInterval], list.setStepUp)
    table.signedIn(
      .get, ConsolePaths.invitationRemoval, .manageAdministrators, list.askForRevocation)
    table.signedIn(
      ConsolePaths.invitationRemoval, performing: [.revokeInvitation], list.revoke)

    let new = NewAdministratorPage(
      identity: identity, actions: actions, publicURL: gate.publicURL,
      view: try templates.template("administrators/new", for: NewAdministratorView.self),
      made: try templates.template("administrators/made", for: InvitationMadeView.self))
    table.signedIn(.get, ConsolePaths.newAdministrator, .manageAdministrators, new.show)
    table.signedIn(
      ConsolePaths.newAdministrator, performing: [.inviteAdministrator], new.invite)

    let one = AdministratorPage(
      identity: identity, actions: actions,
      view: try templates.template("administrators/administrator", for: AdministratorView.self))
    table.signedIn(.get, ConsolePaths.administrator, .seeAdministrators, one.show)
    table.signedIn(ConsolePaths.grants, performing: [.grantRole], one.grant)
    table.signedIn(
      .get, ConsolePaths.grantRemoval, .manageAdministrators, one.askForRevocation)
    table.signedIn(ConsolePaths.grantRemoval, performing: [.revokeRole], one.revoke)

    let typed = try templates.template("administrators/typed", for: TypedView.self)
    let reset = TypedPage(deed: .reset, identity: identity, actions: actions, view: typed)
    table.signedIn(.get, ConsolePaths.factorReset, .manageAdministrators, reset.ask)
    table.signedIn(
      ConsolePaths.factorReset, performing: [.resetAdministratorFactor], reset.act)
    let removal = TypedPage(deed: .remove, identity: identity, actions: actions, view: typed)
    table.signedIn(.get, ConsolePaths.administratorRemoval, .manageAdministrators, removal.ask)
    table.signedIn(
      ConsolePaths.administratorRemoval, performing: [.removeAdministrator], removal.act)

    let clock = ClockPage(
      clock: identity.clockGuard, carriesMail: identity.messages.carriesMail, actions: actions,
      view: try templates.template("clock/clock", for: ClockView.self))
    table.signedIn(.get, ConsolePaths.clock, .protectUsers, clock.show)
    table.signedIn(ConsolePaths.clock, performing: [.confirmClock], clock.confirm)

    try addOwnAccount(to: &table, identity, templates, frames)
  }

  private static func addOwnAccount(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ frames: Frames
  ) throws {
    let account = AccountPage(
      identity: identity, frames: frames,
      view: try templates.template("account/account", for: AccountView.self))
    table.signedIn(.get, ConsolePaths.account, nil, account.show)
    table.signedIn(.post, ConsolePaths.ownSessions, nil, account.endSessions)

    let preferences = PreferencesPage(
      ownAccount: identity.ownAccount, frames: frames,
      view: try templates.template("account/preferences", for: PreferencesView.self))
    table.signedIn(.get, ConsolePaths.preferences, nil, preferences.show)
    table.signedIn(.post, ConsolePaths.preferences, nil, preferences.change)

    let password = OwnPasswordPage(
      ownAccount: identity.ownAccount, frames: frames,
      view: try templates.template("account/password", for: OwnPasswordView.self))
    table.signedIn(.get, ConsolePaths.ownPassword, nil, password.show)
    table.signedIn(.post, ConsolePaths.ownPassword, nil, password.change)

    let codes = try templates.template("account/codes", for: RecoveryCodesView.self)
    let factor = OwnFactorPage(
      gate: table.gate, factors: identity.administratorFactors, frames: frames,
      view: try templates.template("account/totp", for: OwnFactorView.self), codes: codes)
    table.settingUp(.get, ConsolePaths.ownFactor, factor.show)
    table.settingUp(.post, ConsolePaths.ownFactor, factor.finish)

    let currentCode = try templates.template("account/current-code", for: CurrentCodeView.self)
    let withdrawal = OwnFactorRemovalPage(
      factors: identity.administratorFactors, frames: frames, view: currentCode)
    table.signedIn(.get, ConsolePaths.ownFactorRemoval, nil, withdrawal.ask)
    table.signedIn(.post, ConsolePaths.ownFactorRemoval, nil, withdrawal.remove)
    let recovery = RecoveryCodesPage(
      factors: identity.administratorFactors, frames: frames, view: currentCode, codes: codes)
    table.signedIn(.get, ConsolePaths.recoveryCodes, nil, recovery.ask)
    table.signedIn(.post, ConsolePaths.recoveryCodes, nil, recovery.make)
  }

  /// Adds the pages after the password step of sign-in.
  static func addSecondStep(
    to table: inout RouteTable, _ identity: Identity, _ templates: TemplateLibrary,
    _ frames: Frames, _ gate: Gate
  ) throws {
    let destinations = table.all.map(\.route)
    let answers = KeptAnswersPage(
      gate: gate, frames: frames,
      view: try templates.template("sign-in/answers", for: KeptAnswersView.self),
      destinations: destinations)
    table.signedIn(.get, ConsolePaths.keptAnswers, nil, answers.show)

    let code = SignInCodePage(
      identity: identity, gate: gate, frames: frames,
      view: try templates.template("sign-in/code", for: SignInCodeView.self),
      destinations: destinations)
    table.open(.get, ConsolePaths.signInCode, code.show)
    table.open(.post, ConsolePaths.signInCode, code.signIn)

    let invitation = InvitationPage(
      invitations: identity.invitations, gate: gate, frames: frames,
      view: try templates.template("administrators/invitation", for: InvitationView.self))
    table.open(.get, ConsolePaths.invitation, invitation.show)
    table.open(.post, ConsolePaths.invitation, invitation.accept)
  }
}
