import HTTP
import Identity
import Templating

/// All routes of the console.
struct ConsoleRoutes: Sendable {
  let table: RouteTable

  init(
    identity: Identity, templates: TemplateLibrary, frames: Frames, guides: Guides,
    gate: Gate, failures: Failures
  ) throws {
    var table = RouteTable(gate: gate, failures: failures)
    let prose = GuidanceProse()
    let actions = try ActionForms(
      identity, SupportRedirect(frames: frames, cookies: gate.cookies), templates)

    let projects = ProjectsPage(
      identity: identity, frames: frames,
      view: try templates.template("projects/projects", for: ProjectsView.self),
      row: try templates.template("projects/row", for: ProjectRow.self))
    table.signedIn(.get, ConsolePaths.projects, nil, projects.show)

    let newProject = NewProjectPage(
      projects: identity.projects, frames: frames,
      view: try templates.template("projects/new", for: NewProjectView.self))
    table.signedIn(.get, ConsolePaths.newProject, .createProject, newProject.show)
    table.signedIn(
      ConsolePaths.newProject, performing: [.createProject], newProject.create)

    let overview = OverviewPage(
      identity: identity, frames: frames,
      view: try templates.template("scopes/overview", for: OverviewView.self))
    table.inScope(.get, ConsolePaths.overview, .seeScope, overview.show)

    let tenants = TenantsPage(
      tenants: identity.tenants, frames: frames,
      view: try templates.template("tenants/tenants", for: TenantsView.self),
      row: try templates.template("tenants/row", for: TenantRow.self))
    table.inProject(.get, ConsolePaths.tenants, .seeScope, tenants.show)

    let newTenant = NewTenantPage(
      tenants: identity.tenants, frames: frames,
      view: try templates.template("tenants/new", for: NewTenantView.self))
    table.inProject(.get, ConsolePaths.newTenant, .manageTenants, newTenant.show)
    table.inProject(
      ConsolePaths.newTenant, performing: [.createTenant], newTenant.create)

    let policy = PolicyPage(
      identity: identity, actions: actions,
      form: try templates.template("policy/policy", for: PolicyView.self),
      check: try templates.template("policy/check", for: PolicyCheckView.self))
    table.inScope(.get, ConsolePaths.policy, .readPolicy, policy.show)
    table.inScope(
      ConsolePaths.policy, performing: [.changePolicy, .weakenPolicy], policy.change)

    let review = ReviewPage(
      policies: identity.policies, frames: frames,
      view: try templates.template("review/review", for: ReviewView.self),
      row: try templates.template("review/row", for: ReviewRow.self))
    table.inProject(.get, ConsolePaths.review, .seeScope, review.show)
    table.inProject(.get, ConsolePaths.reviewFile, .seeScope, review.download)

    let users = UsersPage(
      accounts: identity.accounts, frames: frames,
      view: try templates.template("users/users", for: UsersView.self),
      row: try templates.template("users/row", for: UserRow.self))
    table.inScope(.get, ConsolePaths.users, .findUsers, users.show)
    table.inScope(
      ConsolePaths.usersFile, performing: [.exportUsers],
      UsersFile(accounts: identity.accounts, actions: actions).download)

    let findUsers = FindUsersPage(
      accounts: identity.accounts, frames: frames,
      view: try templates.template("users/find", for: FindUsersView.self))
    table.somewhere(.get, ConsolePaths.findUsers, .findUsers, findUsers.show)

    let newUser = NewUserPage(
      accounts: identity.accounts, frames: frames,
      view: try templates.template("users/new", for: NewUserView.self))
    table.inScope(.get, ConsolePaths.newUser, .changeUsers, newUser.show)
    table.inScope(ConsolePaths.newUser, performing: [.createUser], newUser.create)

    let user = UserPage(
      identity: identity, prose: prose, frames: frames,
      view: try templates.template("users/user", for: UserView.self))
    table.inScope(.get, ConsolePaths.user, .findUsers, user.show)

    let codeAttempts = CodeAttemptsPage(
      identity: identity, frames: frames,
      view: try templates.template("code-attempts/all", for: CodeAttemptsView.self))
    table.inScope(.get, ConsolePaths.codeAttempts, .findUsers, codeAttempts.show)

    let support = SupportPages(
      support: identity.support, ending: SupportRedirect(frames: frames, cookies: gate.cookies),
      view: try templates.template("support/question", for: SupportConfirmationView.self))
    try Self.addSupport(to: &table, identity, support, templates)
    try Self.addRemovals(to: &table, identity, templates, support.ending)
    try Self.addCodes(to: &table, identity, templates, support)

    let settings = SettingsPage(
      identity: identity, actions: actions,
      view: try templates.template("settings/settings", for: SettingsView.self))
    table.inScope(.get, ConsolePaths.settings, .seeScope, settings.show)
    table.inScope(
      ConsolePaths.settings, performing: [.changeSettings, .weakenSettings], settings.change)

    let signInSwitch = SignInSwitchPage(
      settings: ScopeSettings(identity: identity), actions: actions,
      view: try templates.template("settings/sign-in", for: SignInSwitchView.self))
    table.inScope(.get, ConsolePaths.signInSwitch, .changeScope, signInSwitch.ask)
    table.inScope(
      ConsolePaths.signInSwitch, performing: [.disableSignIn, .enableSignIn],
      signInSwitch.change)

    let keys = KeysPage(
      keys: identity.apiKeys, actions: actions,
      view: try templates.template("keys/revocation", for: KeyRevocationView.self))
    table.inProject(ConsolePaths.keys, performing: [.createAPIKey], keys.create)
    table.inProject(.get, ConsolePaths.keyRevocation, .manageKeys, keys.ask)
    table.inProject(ConsolePaths.keyRevocation, performing: [.revokeAPIKey], keys.revoke)

    let tokens = TokensPage(
      tokens: identity.serviceTokens, actions: actions,
      form: try templates.template("tokens/new", for: NewTokenView.self),
      made: try templates.template("tokens/made", for: MadeTokenView.self),
      revocation: try templates.template("tokens/revocation", for: TokenRevocationView.self))
    table.inScope(.get, ConsolePaths.newToken, .manageKeys, tokens.show)
    table.inScope(ConsolePaths.newToken, performing: [.createServiceToken], tokens.create)
    table.inScope(.get, ConsolePaths.tokenRevocation, .manageKeys, tokens.ask)
    table.inScope(
      ConsolePaths.tokenRevocation, performing: [.revokeServiceToken], tokens.revoke)

    try Self.addTrust(to: &table, identity, templates, actions)

    let scopeDeletion = ScopeDeletionPage(
      identity: identity, actions: actions,
      view: try templates.template("deletion/deletion", for: ScopeDeletionView.self))
    table.inProject(.get, ConsolePaths.projectDeletion, .deleteProject, scopeDeletion.askForProject)
    table.inProject(
      ConsolePaths.projectDeletion, performing: [.deleteProject], scopeDeletion.deleteProject)
    let tenantDeletion = ConsolePaths.tenantDeletion
    table.inProjectOfTenant(.get, tenantDeletion, .manageTenants, scopeDeletion.askForTenant)
    table.inProjectOfTenant(
      tenantDeletion, performing: [.deleteTenant], scopeDeletion.deleteTenant)

    let audit = AuditPage(
      audit: identity.audit, frames: frames,
      view: try templates.template("audit/audit", for: AuditView.self),
      row: try templates.template("audit/row", for: AuditRowView.self))
    table.inScope(.get, ConsolePaths.audit, .readAudit, audit.show)
    table.inScope(.get, ConsolePaths.auditFile, .readAudit, audit.download)
    table.signedIn(.get, ConsolePaths.instanceAudit, .readAudit, audit.showAll)
    table.signedIn(.get, ConsolePaths.instanceAuditFile, .readAudit, audit.downloadAll)

    let outbox = OutboxPage(
      messages: identity.messages, accounts: identity.accounts, actions: actions,
      list: try templates.template("outbox/outbox", for: OutboxView.self),
      one: try templates.template("outbox/message", for: MessageView.self))
    table.inScope(.get, ConsolePaths.outbox, .findUsers, outbox.show)
    table.inScope(.get, ConsolePaths.message, .findUsers, outbox.showOne)
    table.inScope(ConsolePaths.messageText, performing: [.openMessage], outbox.open)

    let scopeGuidance = ScopeGuidancePage(
      guidance: identity.guidance, prose: prose, frames: frames,
      view: try templates.template("guidance/scope", for: ScopeGuidanceView.self))
    table.inScope(.get, ConsolePaths.scopeGuidance, .seeScope, scopeGuidance.show)

    let editor = GuidanceEditorPage(
      guidance: identity.guidance, prose: prose, frames: frames,
      view: try templates.template("guidance/edit", for: GuidanceEditorView.self))
    table.inScope(.get, ConsolePaths.guidanceEditor, .changeScope, editor.show)
    table.inScope(ConsolePaths.guidanceEditor, performing: [.editGuidance], editor.save)

    let whatIf = WhatIfPage(
      signIns: identity.signIns, frames: frames,
      view: try templates.template("what-if/what-if", for: WhatIfView.self))
    table.somewhere(.get, ConsolePaths.whatIf, .findUsers, whatIf.show)

    let guidance = GuidancePage(
      guides: guides, gate: gate, frames: frames,
      index: try templates.template("guidance/index", for: GuidanceView.self),
      view: try templates.template("guidance/guide", for: GuideView.self))
    table.signedIn(.get, ConsolePaths.guidance, nil, guidance.list)
    table.signedIn(.get, ConsolePaths.guide, nil, guidance.show)

    try Self.addAdministration(
      to: &table, identity, templates, frames, actions, gate)

    let signOut = SignOutPage(
      sessions: identity.consoleSessions, cookies: gate.cookies, frames: frames,
      view: try templates.template("sign-out/sign-out", for: SignOutView.self))
    table.settingUp(.get, ConsolePaths.signOut, signOut.ask)
    table.settingUp(.post, ConsolePaths.signOut, signOut.signOut)

    let signIn = SignInPage(
      identity: identity, gate: gate, frames: frames,
      view: try templates.template("sign-in/sign-in", for: SignInView.self),
      destinations: table.all.map(\.route))
    table.open(.get, ConsolePaths.signIn, signIn.show)
    table.open(.post, ConsolePaths.signIn, signIn.signIn)
    try Self.addSecondStep(to: &table, identity, templates, frames, gate)

    let setup = SetupPage(
      setup: identity.setup, gate: gate, frames: frames,
      view: try templates.template("setup/setup", for: SetupView.self))
    table.open(.get, ConsolePaths.setup, setup.show)
    table.open(.post, ConsolePaths.setup, setup.complete)

    let actionLink = ActionLinkPage(
      codes: identity.outOfBandCodes, gate: gate, frames: frames,
      view: try templates.template("action-link/action-link", for: ActionLinkView.self))
    table.open(.get, ConsolePaths.actionLink, actionLink.show)
    table.open(.post, ConsolePaths.actionLink, actionLink.act)
    try Self.addUserLinks(to: &table, identity, templates, frames, gate)

    self.table = table
  }
}
