import Database
import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

/// An upgrade from a version whose default accepted one method of RFC 8176 as MFA.
struct FormerMFAValuesTests {
  private static let former = ["mfa", "hwk", "otp"]

  /// Applies the migration, as to a database of the version before it.
  private func upgrade(_ instance: Instance) async throws {
    let later = Identity.migrations(for: instance.database.dialect).later
    let migration = try #require(later.first { $0.name == "m0070_one_method" })
    try await instance.database.write { try $0.runScript(migration.text) }
  }

  /// Returns the recipients of the email about the change, sorted.
  private func told(_ instance: Instance) async throws -> [String] {
    try await instance.mails("administrator-provider")
      .filter { $0.subject == "Countersign asks for more at sign-in with the provider" }
      .map(\.recipient).sorted()
  }

  @Test func `a stored default changes, and the owners and the operator are told`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let owner = try await instance.setUpProvider(mfaValues: Self.former)
      instance.provider.change { $0.amr = ["otp"] }
      #expect(try await instance.providerSession().secondFactor == .enrolled)
      try await upgrade(instance)
      #expect(try await instance.identity.consoleProviders.find()?.mfaValues == ["mfa"])
      #expect(try await instance.providerSession().secondFactor != .enrolled)
      for _ in 0..<2 { try await instance.identity.watchActivity() }
      let owners = try await instance.identity.administrators.records().map(\.administrator)
        .filter { $0.may(.manageAdministrators, in: nil) }.map(\.email).sorted()
      #expect(try await told(instance) == owners && owners.contains(owner.administrator.email))
      let rows = try await instance.wholeLog().filter {
        $0.action == .instanceChangeSignInProvider && $0.actor == .server
      }
      #expect(rows.map { $0.new(.mfaValues) } == [.list(["mfa"])])
      #expect(try await Identity.replacedMFAValues(in: instance.database))
      // Another upgrade or start changes nothing, and a save by an owner ends the warning.
      try await upgrade(instance)
      try await instance.identity.watchActivity()
      #expect(try await told(instance) == owners)
      let provider = try #require(try await instance.identity.consoleProviders.find())
      _ = try await instance.identity.consoleProviders.save(
        provider, secret: nil, owner.request(nil, note: "Checked"))
      #expect(try await !Identity.replacedMFAValues(in: instance.database))
    }
  }

  @Test(arguments: [["mfa"], ["otp"], ["mfa", "otp", "hwk"], ["mfa", "hwk", "otp", "phr"], []])
  func `a list that an owner chose stays`(list: [String]) async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.setUpProvider(mfaValues: list)
      try await upgrade(instance)
      try await instance.identity.watchActivity()
      #expect(try await instance.identity.consoleProviders.find()?.mfaValues == list)
      #expect(try await told(instance) == [])
      #expect(try await !Identity.replacedMFAValues(in: instance.database))
    }
  }
}
