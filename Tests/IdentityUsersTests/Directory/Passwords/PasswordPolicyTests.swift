import Crypto
import Testing
import Text

@testable import Identity
@testable import TestIdentity

struct PasswordPolicyTests {
  private let strict = PasswordPolicy(
    isEnforced: true, shortest: 8, longest: 20,
    classes: Set(PasswordPolicy.CharacterClass.allCases))

  @Test(
    arguments: [
      (
        "",
        [
          .atLeast(8), .character(.lowercase), .character(.uppercase), .character(.digit),
          .character(.symbol),
        ]
      ),
      ("Abcdef1!", []),
      ("abcdefgh", [.character(.uppercase), .character(.digit), .character(.symbol)]),
      ("ABCDEFG1_", [.character(.lowercase)]),
      // Only ASCII letters count as letters.
      ("ÀÉÎõü12!x", [.character(.uppercase)]), ("Abcdefg1+", [.character(.symbol)]),
      ("Abcdefg1-", []), ("Abcdefg1`", []), ("Aa1!😀😀", []),
      ("Abcdefg1!Abcdefg1!Abc", [.atMost(20)]),
    ] as [(String, [PasswordRequirement])])
  func `unmet password requirements are reported`(password: String, missing: [PasswordRequirement])
  {
    #expect(strict.missing(in: Secret(password)) == missing)
  }

  @Test func `a policy that isn't enforced requires nothing`() {
    var policy = strict
    policy.isEnforced = false
    #expect(policy.missing(in: Secret("a")).isEmpty)
  }

  @Test(
    arguments: [
      (PasswordPolicy(), [.atLeast(6)]),
      (PasswordPolicy(isEnforced: false, shortest: 12, classes: [.digit]), [.atLeast(6)]),
      (PasswordPolicy(isEnforced: true), [.atLeast(6)]),
      (
        PasswordPolicy(isEnforced: true, shortest: 8, longest: 20, classes: [.symbol, .digit]),
        [.atLeast(8), .atMost(20), .character(.digit), .character(.symbol)]
      ),
    ] as [(PasswordPolicy, [PasswordRequirement])])
  func `the requirements to state are those that passwords are checked for`(
    policy: PasswordPolicy, requirements: [PasswordRequirement]
  ) {
    #expect(policy.requirements == requirements)
  }

  @Test func `there are 10,000 common passwords of eight or more characters`() {
    #expect(CommonPasswords.all.count == 10_000)
    for word in CommonPasswords.all.map(\.text) {
      #expect(word.count >= 8 && SearchText.folded(word) == word)
    }
  }

  @Test(arguments: ["iloveyou", "ILoveYou", "ｉｌｏｖｅｙｏｕ", "ilóveyou", "iloveyou "])
  func `common passwords are refused regardless of case, accents, and width, if enforced`(
    password: String
  ) {
    var policy = PasswordPolicy.initial
    #expect(policy.missing(in: Secret(password)) == [.uncommon])
    #expect(policy.missing(in: Secret(password + "ff")).isEmpty)
    policy.isEnforced = false
    #expect(policy.missing(in: Secret(password)).isEmpty)
  }

  @Test func `pools that administrators make start with a stricter policy than others`()
    async throws
  {
    try await withInstance { instance in
      let pools = instance.identity.pools
      let boss = try await instance.agent("bea", role: .owner)
      let project = try await pools.createProject(
        id: "from-console", displayName: "", by: .console(boss.request(nil))
      ).value
      let id = project.pool.project
      let tenant = try await pools.createTenant(
        in: id, .newTenant(named: "north"), by: .console(boss.request(nil))
      ).value
      let copy = try await pools.createTenant(
        in: id, .newTenant(named: "south"), withPolicyVersion: project.policy.version,
        by: .console(boss.request(nil))
      ).value
      for pool in [project, tenant, copy] {
        #expect(pool.passwords == PasswordPolicy.initial && pool.passwordsChangedAt != nil)
      }
      let entry = try #require(
        try await instance.log(project.pool).first { $0.action == .projectCreate })
      #expect(entry.new(.passwordCommonRefused) == .flag(true))
      let program = Author(actor: .commandLine)
      let emulator = try instance.identity(profile: .emulator).pools
      let others = [
        try await pools.createProject(id: "from-program", displayName: "", by: .program(program))
          .value,
        try await pools.createTenant(in: id, .newTenant(named: "west"), by: .program(program))
          .value,
        try await emulator.createProject(
          id: "in-emulator", displayName: "", by: .console(boss.request(nil))
        ).value,
        try await emulator.createTenant(
          in: id, .newTenant(named: "east"), by: .console(boss.request(nil))
        ).value,
      ]
      for pool in others { #expect(pool.passwords == nil) }
    }
  }

  @Test func `every way to set a password applies the pool's policy`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.passwords = PasswordPolicy(isEnforced: true, shortest: 30) }
      await expect("passwordRequirements") { try await instance.account(.bob) }
      var change = AccountChange()
      change.password = .set(Secret("not that long"))
      let weak = change
      await expect("passwordRequirements") {
        try await instance.identity.accounts.update(
          instance.acme, account.id, weak, by: Instance.boss)
      }
      var new = NewAccount()
      new.email = "c@example.com"
      new.password = Secret("not that long")
      let mine = new
      await expect("passwordRequirements") {
        try await instance.identity.signIns.signUp(instance.acme, mine, by: Instance.visitor)
      }
      // The policy doesn't apply to another pool.
      _ = try await instance.account(.bob, in: instance.east)
      let row = try #require(
        try await instance.log().first { $0.action == .projectChange })
      #expect(
        row.new(.passwordEnforced) == .flag(true) && row.new(.passwordShortest) == .number(30))
    }
  }

  @Test func `a correct but too weak password doesn't count as a failed attempt`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.passwords = PasswordPolicy(isEnforced: true, forcesUpgrade: true, shortest: 30) }
      for _ in 0..<12 {
        await expect("passwordRequirements") { try await instance.firstFactor(.alice) }
      }
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.passwords?.isEnforced = false }
      _ = try await instance.session(.alice)
    }
  }

  @Test func `a pool can keep users from creating and deleting accounts`() async throws {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.userPermissions = UserPermissions(signUp: false, deletion: false) }
      var new = NewAccount()
      new.email = "c@example.com"
      new.password = Secret("a long password")
      let mine = new
      await expect("adminOnly") {
        try await instance.identity.signIns.signUp(instance.acme, mine, by: Instance.visitor)
      }
      await expect("adminOnly") {
        try await instance.identity.accounts.delete(
          instance.acme, account.id, by: Author(actor: .user(account.id)))
      }
      try await instance.identity.accounts.delete(instance.acme, account.id, by: Instance.boss)
    }
  }
}
