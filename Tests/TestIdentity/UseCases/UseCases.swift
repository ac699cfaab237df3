import Crypto
import Identity
import OTP
import Testing

/// A use case with its preparation and the audit entries that it writes.
struct UseCase: Sendable, CustomTestStringConvertible {
  typealias Act = @Sendable () async throws -> Void

  let name: String
  /// The actions of its audit entries, oldest first.
  let auditActions: [AuditAction]
  /// The result: `done`, or the name of the expected error.
  let ending: String
  /// Whether it uses a ticket, or counts a use, even if its audit entry can't be written.
  let spendsTicket: Bool
  /// Prepares the instance and returns the use case itself.
  let prepare: @Sendable (Instance) async throws -> Act

  var testDescription: String { name }

  init(
    _ name: String, _ auditActions: [AuditAction], ending: String = "done",
    spendsTicket: Bool = false,
    _ prepare: @escaping @Sendable (Instance) async throws -> Act
  ) {
    (self.name, self.auditActions, self.ending, self.prepare) = (
      name, auditActions, ending, prepare
    )
    self.spendsTicket = spendsTicket
  }

  static let all: [UseCase] =
    settings + users + factors + support + signIns + outOfBand + administration
    + administrators + signInProvider + federation + many + backupCodes + server + connections

  private static let settings: [UseCase] = [
    UseCase("create a project", [.projectCreate]) { i in
      {
        _ = try await i.identity.pools.createProject(
          id: "new-project", displayName: "New", by: .program(Instance.boss))
      }
    },
    UseCase("change a project", [.projectChange]) { i in
      {
        _ = try await i.identity.pools.update(project: i.acme.project, by: .program(Instance.boss))
        {
          $0.project?.emailPrivacy.toggle()
        }
      }
    },
    UseCase("change a project and its policy", [.projectChange, .policyChange]) { i in
      {
        _ = try await i.identity.pools.update(project: i.acme.project, by: .program(Instance.boss))
        {
          $0.project?.emailPrivacy.toggle()
          $0.configuration.totp = nil
        }
      }
    },
    UseCase("delete a project with its tenants, users, keys and tokens", [.projectDelete]) { i in
      _ = try await i.enrolled(.alice)
      _ = try await i.enrolled(.bob, in: i.east)
      _ = try await i.identity.serviceTokens.create(
        project: i.acme.project, tenant: nil, role: .owner, name: "x",
        by: .program(Author(actor: .commandLine)))
      return {
        try await i.identity.pools.delete(project: i.acme.project, by: .program(Instance.boss))
      }
    },
    UseCase("create an API key", [.apiKeyCreate]) { i in
      {
        _ = try await i.identity.apiKeys.create(for: i.acme.project, by: .program(Instance.boss))
      }
    },
    UseCase("revoke an API key", [.apiKeyRevoke]) { i in
      let key = try await i.identity.apiKeys.list(i.acme.project).first?.id ?? ID("")
      return {
        try await i.identity.apiKeys.revoke(key, of: i.acme.project, by: .program(Instance.boss))
      }
    },
    UseCase("create a tenant", [.tenantCreate]) { i in
      {
        _ = try await i.identity.pools.createTenant(
          in: i.acme.project, PoolEdit(displayName: "North"), by: .program(Instance.boss))
      }
    },
    UseCase("create a tenant like its project", [.tenantCreate, .policyChange]) { i in
      let policy = try await i.identity.policies.change(i.acme, by: .program(Instance.boss)) {
        $0.pattern = .stepUp
      }.value.policy
      let pia = try await i.agent("pia", role: .policy)
      return {
        _ = try await i.identity.pools.createTenant(
          in: i.acme.project, .newTenant(named: "North"), withPolicyVersion: policy.version,
          by: .console(pia.request(nil)))
      }
    },
    UseCase("change a tenant", [.tenantChange]) { i in
      {
        _ = try await i.identity.pools.update(
          project: i.acme.project, tenant: i.east.tenant ?? ID(""), by: .program(Instance.boss)
        ) { $0.disableAuth = true }
      }
    },
    UseCase("delete a tenant with its users and tokens", [.tenantDelete]) { i in
      _ = try await i.enrolled(.alice, in: i.east)
      _ = try await i.identity.serviceTokens.create(
        project: i.acme.project, tenant: i.east.tenant, role: .owner, name: "x",
        by: .program(Author(actor: .commandLine)))
      return {
        try await i.identity.pools.delete(
          project: i.acme.project, tenant: i.east.tenant ?? ID(""), by: .program(Instance.boss))
      }
    },
    UseCase("change a policy", [.policyChange]) { i in { try await i.setWindow(1) } },
    UseCase("widen a window", [.policyWiden]) { i in
      { try await i.setWindow(9) }
    },
    UseCase("edit guidance", [.guidanceChange]) { i in
      {
        _ = try await i.identity.guidance.write(
          i.acme, "Call back.", expecting: 0, by: .program(Instance.boss))
      }
    },
    UseCase("read the audit log", [.auditRead]) { i in
      { try await i.identity.audit.recordReading(i.acme, by: Instance.boss) }
    },
    UseCase("change the audit log retention", [.auditChangeRetention]) { i in
      let owner = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.auditChain.setRetention(
          days: 730, owner.request(nil, note: "Two years are enough."))
      }
    },
    UseCase("export the audit log", [.auditDownload]) { i in
      let agent = try await i.agent("ada", role: .auditor)
      return {
        _ = try await i.identity.audit.export(
          AuditFilter(), words: [], into: 0, by: agent.author, in: agent.session
        ) { count, _ in count += 1 }
      }
    },
    UseCase("rotate the signing key", [.signingKeyRotate]) { i in
      { _ = try await i.identity.signingKeys.rotate(by: Instance.boss) }
    },
    UseCase("retire a signing key", [.signingKeyRetire]) { i in
      let keys = i.identity.signingKeys
      let old = try keys.currentID()
      _ = try await keys.rotate(by: Instance.boss)
      return { try await keys.retire(old, by: Instance.boss) }
    },
    UseCase("create a service token", [.serviceTokenCreate]) { i in
      {
        _ = try await i.identity.serviceTokens.create(
          project: i.acme.project, tenant: nil, role: .owner, name: "x",
          by: .program(Author(actor: .commandLine)))
      }
    },
    UseCase("revoke a service token", [.serviceTokenRevoke]) { i in
      let created = try await i.identity.serviceTokens.create(
        project: i.acme.project, tenant: nil, role: .owner, name: "x",
        by: .program(Author(actor: .commandLine))
      ).value
      return {
        try await i.identity.serviceTokens.revoke(
          created.token.id, of: i.acme.project, by: .program(Instance.boss))
      }
    },
  ]

  private static let users: [UseCase] = [
    UseCase("import users", [.accountImport]) { i in
      {
        _ = try await i.identity.imports.run(
          i.acme, [ImportRow.user(.alice), ImportRow.user(.bob)],
          ImportOptions(existing: .refuse), by: Instance.boss)
      }
    },
    UseCase("replace a user by import", [.accountChange, .accountImport]) { i in
      let account = try await i.account(.alice)
      let row = ImportRow.user(.alice) {
        $0.localID = account.id.text
        $0.displayName = "Replaced"
      }
      return {
        _ = try await i.identity.imports.run(
          i.acme, [row], ImportOptions(existing: .replace), by: Instance.boss)
      }
    },
    UseCase("start an import in batches", [.accountImport]) { i in
      var options = ImportOptions(existing: .keep)
      options.record = .beginning("users.json")
      let first = options
      return {
        _ = try await i.identity.imports.run(
          i.acme, [ImportRow.user(.alice)], first, by: Instance.boss)
      }
    },
    UseCase("finish an import in batches", [.accountImport]) { i in
      {
        try await i.identity.imports.recordEnd(
          ImportOutcome(), of: i.acme, name: "users.json", isComplete: true, by: Instance.boss)
      }
    },
    UseCase("create an account", [.accountCreate]) { i in { _ = try await i.account(.alice) } },
    UseCase("sign up", [.accountSignUp]) { i in
      {
        var new = NewAccount()
        (new.email, new.password) = (Person.alice.email, Person.alice.password)
        _ = try await i.identity.signIns.signUp(i.acme, new, by: Instance.visitor)
      }
    },
    UseCase("change an account", [.accountChange]) { i in
      let alice = try await i.account(.alice)
      return {
        var change = AccountChange()
        change.displayName = .set("Alice")
        change.password = .set(Secret("another password"))
        _ = try await i.identity.accounts.update(i.acme, alice.id, change, by: Instance.boss)
      }
    },
    UseCase("disable an account", [.accountChange]) { i in
      let alice = try await i.account(.alice)
      _ = try await i.session(.alice)
      return {
        var change = AccountChange()
        change.disabled = true
        try await i.identity.accounts.update(i.acme, alice.id, change, by: Instance.boss)
      }
    },
    UseCase("change one's own password", [.accountChange]) { i in
      _ = try await i.account(.alice)
      let session = try await i.session(.alice).session
      return {
        var change = AccountChange()
        change.password = .set(Secret("another password"))
        _ = try await i.identity.accounts.update(
          i.acme, session.account, change, by: Instance.visitor, in: session)
      }
    },
    UseCase("clear the factors of an account", [.accountChange]) { i in
      let device = try await i.enrolled(.alice)
      return {
        var change = AccountChange()
        change.factors = .clear
        _ = try await i.identity.accounts.update(
          i.acme, device.account.id, change, by: Instance.boss)
      }
    },
    UseCase("delete an account", [.accountDelete]) { i in
      let device = try await i.enrolled(.alice)
      return {
        try await i.identity.accounts.delete(i.acme, device.account.id, by: Instance.boss)
      }
    },
    UseCase("delete all accounts", [.accountDeleteAll]) { i in
      _ = try await i.enrolled(.alice)
      return { try await i.identity.accounts.deleteAll(i.acme, by: Author(actor: .emulatorOwner)) }
    },
    UseCase("export accounts", [.accountDownload]) { i in
      {
        try await i.identity.accounts.recordHashDownload(
          of: i.acme, count: 3, by: Instance.boss)
      }
    },
    UseCase("end sessions", [.sessionsEnd]) { i in
      let alice = try await i.account(.alice)
      _ = try await i.session(.alice)
      return {
        try await i.identity.sessions.endAll(i.acme, alice.id, by: Instance.support)
      }
    },
  ]

  private static let factors: [UseCase] = [
    UseCase("finish an enrollment", [.factorEnroll]) { i in
      _ = try await i.account(.alice)
      let session = try await i.session(.alice).session
      let start = try await i.identity.enrollments.start(session)
      return { _ = try await i.finish(start, session) }
    },
    UseCase("enroll a phone", [.factorEnroll]) { i in
      try await i.allowPhones()
      _ = try await i.account(.alice)
      let session = try await i.session(.alice).session
      return { _ = try await i.enrollPhone(session) }
    },
    UseCase("set a user's phone factors", [.accountChange]) { i in
      let device = try await i.enrolled(.alice)
      return {
        var change = AccountChange()
        change.factors = .replace([
          FactorEntry(phoneNumber: Instance.number),
          FactorEntry(id: device.factor.text, displayName: "new name"),
        ])
        try await i.identity.accounts.update(i.acme, device.account.id, change, by: Instance.boss)
      }
    },
    UseCase("withdraw a factor", [.factorWithdraw]) { i in
      let device = try await i.enrolled(.alice)
      return {
        _ = try await i.identity.enrollments.withdraw(
          device.session, enrollment: device.factor.text, by: Instance.visitor)
      }
    },
    UseCase("remove all factors", [.factorRemoveAll]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      return {
        _ = try await i.identity.factorRemovals.remove(
          i.acme, device.account.id, nil, agent.request())
      }
    },
    UseCase("rename a factor", [.factorRename]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      return {
        _ = try await i.identity.support.rename(
          i.acme, device.account.id, device.factor, to: "new phone", agent.request())
      }
    },
    UseCase("remove a factor", [.factorRemove]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      return {
        _ = try await i.identity.factorRemovals.remove(
          i.acme, device.account.id, device.factor, agent.request())
      }
    },
  ]

  private static let signIns: [UseCase] = [
    UseCase("sign in with a phone as the second factor", []) { i in
      try await i.allowPhones()
      let account = try await i.withPhone(.alice).account
      let pending = try await i.pending(.alice)
      return {
        let info = try await i.sendCode(pending, to: account)
        _ = try await i.finalizePhone(pending, info)
      }
    },
    UseCase("sign up with a phone number", [.accountSignUp]) { i in
      try await i.allowPhones()
      let info = try await i.identity.signIns.sendCode(i.acme, i.request())
      return {
        _ = try await i.identity.signIns.phone(
          i.acme,
          PhoneSignIn(
            proof: .code(sessionInfo: info, code: TypedCode(Instance.code)), purpose: .signIn),
          by: Instance.visitor)
      }
    },
    UseCase("send a code to a phone number", []) { i in
      try await i.allowPhones()
      return {
        _ = try await i.identity.signIns.sendCode(i.acme, i.request("+4915799999999"))
      }
    },
    UseCase("start an enrollment", []) { i in
      _ = try await i.account(.alice)
      let session = try await i.session(.alice).session
      return { _ = try await i.identity.enrollments.start(session) }
    },
    UseCase("sign in with a password", []) { i in
      _ = try await i.account(.alice)
      return { _ = try await i.session(.alice) }
    },
    UseCase("sign in with a code", []) { i in
      let device = try await i.enrolled(.alice)
      let pending = try await i.pending(.alice)
      return {
        _ = try await i.finalize(device, pending, code: device.code(at: i.now))
      }
    },
    UseCase("refresh a session", []) { i in
      _ = try await i.account(.alice)
      let grant = try await i.session(.alice)
      return {
        _ = try await i.identity.sessions.refresh(grant.refreshToken, project: i.acme.project)
      }
    },
  ]
}
