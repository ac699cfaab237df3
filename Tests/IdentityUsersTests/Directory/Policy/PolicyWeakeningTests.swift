import Identity
import Testing

@testable import TestIdentity

/// Tests which changes are weaker policies or weaker settings.
struct PolicyWeakeningTests {
  private func edit(
    _ state: MFAState? = .enabled, _ intervals: Int? = 1, sms: Bool = false,
    top: MFAState? = .enabled, _ pattern: EnrollmentPattern? = nil, from: Day? = nil
  ) -> PolicyEdit {
    PolicyEdit(
      configuration: MFAConfiguration(
        state: top, smsEnabled: sms,
        totp: state.map { TOTPConfiguration(state: $0, adjacentIntervals: intervals) }),
      pattern: pattern, mandatoryFrom: from)
  }

  @Test func `a weaker value of any field is a weakening`() throws {
    #expect(edit(.disabled).weakenings(since: edit()) == [.factorDisabled(.totp)])
    #expect(edit(nil).weakenings(since: edit()) == [.factorDisabled(.totp)])
    #expect(edit(.enabled, 2).weakenings(since: edit()) == [.widerWindow(from: 1, to: 2)])
    #expect(edit(.enabled, nil).weakenings(since: edit()) == [.widerWindow(from: 1, to: 5)])
    #expect(
      edit(.enabled, nil).weakenings(since: edit(.enabled, 0)) == [.widerWindow(from: 0, to: 5)])
    #expect(edit(.disabled, 9).weakenings(since: edit(.disabled)) == [.widerWindow(from: 1, to: 9)])
    #expect(edit(.enabled, 9).weakenings(since: edit(nil)).isEmpty, "no code was accepted before")
    #expect(edit().weakenings(since: edit(sms: true)) == [.factorDisabled(.phone)])
    #expect(edit(.enabled).weakenings(since: edit(.mandatory)) == [.noLongerMandatory])
    #expect(edit(top: .enabled).weakenings(since: edit(top: .mandatory)) == [.noLongerMandatory])
    #expect(
      edit(.enabled, 1, .skippable).weakenings(since: edit(.enabled, 1, .mandatory))
        == [.looserPattern(from: .mandatory, to: .skippable)])
    #expect(
      edit().weakenings(since: edit(.enabled, 1, .account))
        == [.looserPattern(from: .account, to: nil)])
    let (early, late) = (try #require(Day("2026-12-01")), try #require(Day("2027-01-01")))
    #expect(
      edit(.enabled, 1, .mandatory, from: late)
        .weakenings(since: edit(.enabled, 1, .mandatory, from: early))
        == [.laterStart(from: early, to: late)])
    #expect(
      edit(.enabled, 1, .mandatory, from: late).weakenings(since: edit(.enabled, 1, .mandatory))
        == [.laterStart(from: nil, to: late)])
    #expect(
      edit(.disabled).weakenings(since: edit(sms: true))
        == [.factorDisabled(.totp), .factorDisabled(.phone)])
  }

  @Test func `an equal or stricter policy is not a weakening`() throws {
    let late = try #require(Day("2027-01-01"))
    #expect(!edit().isWeaker(than: edit()))
    #expect(!edit(.enabled, 0).isWeaker(than: edit()))
    #expect(!edit(.enabled, 5).isWeaker(than: edit(nil)))
    #expect(!edit(.enabled, 5).isWeaker(than: edit(.enabled, nil)))
    #expect(!edit(sms: true).isWeaker(than: edit()))
    #expect(!edit(.mandatory).isWeaker(than: edit()))
    #expect(!edit(.enabled, 1, .mandatory, from: late).isWeaker(than: edit(.enabled, 1, .stepUp)))
    #expect(
      !edit(.enabled, 1, .mandatory).isWeaker(than: edit(.enabled, 1, .mandatory, from: late)))
  }

  @Test func `every field of a project or tenant is compared or known not to weaken anything`()
    async throws
  {
    try await withInstance { instance in
      let edit = try await instance.identity.pools.existingSettings(project: instance.acme.project)
        .edit
      let ofPool = Set(Mirror(reflecting: edit).children.compactMap(\.label))
      let known: Set = [
        // Compared.
        "signIn", "changesNeedFactor", "userPermissions", "passwords", "configuration",
        "project",
        // Has its own audit action.
        "disableAuth",
        // Weakens nothing: names and values that are only returned. A tenant's email privacy and
        // the test phone numbers are compared.
        "displayName", "storedMembers",
      ]
      #expect(ofPool == known)
      let project = try #require(edit.project)
      let ofProject = Set(Mirror(reflecting: project).children.compactMap(\.label))
      let knownOfProject: Set = [
        "emailPrivacy", "allowDuplicateEmails", "authorizedDomains", "importsTOTP",
        // Takes permissions away.
        "allowTenants", "expiresAnonymous",
      ]
      #expect(ofProject == knownOfProject)
      let permissions = Set(Mirror(reflecting: UserPermissions()).children.compactMap(\.label))
      // Letting users delete their own accounts weakens nothing.
      #expect(permissions == ["signUp", "deletion"])
      let passwords = Set(Mirror(reflecting: PasswordPolicy()).children.compactMap(\.label))
      #expect(
        passwords == [
          "isEnforced", "forcesUpgrade", "shortest", "longest", "classes", "refusesCommon",
        ])
    }
  }

  @Test func `weaker settings of a project or tenant are weakenings`() async throws {
    try await withInstance { instance in
      var old = try await instance.identity.pools.existingSettings(project: instance.acme.project)
        .edit
      old.signIn = SignInMethods(password: true, emailLink: false, anonymous: false)
      old.emailPrivacy = true
      old.userPermissions.signUp = false
      old.changesNeedFactor = true
      old.passwords = PasswordPolicy(isEnforced: true, shortest: 12, classes: [.digit])
      func weakenings(_ change: (inout PoolEdit) -> Void) -> [SettingsWeakening] {
        var new = old
        change(&new)
        return new.weakenings(since: old, usersHaveApps: false)
      }
      func ofProject(_ change: (inout ProjectSettings) -> Void) throws -> [SettingsWeakening] {
        var project = try #require(old.project)
        change(&project)
        return weakenings { $0.project = project }
      }
      #expect(weakenings { _ in }.isEmpty)
      #expect(weakenings { $0.signIn.anonymous = true } == [.methodEnabled(.anonymous)])
      #expect(weakenings { $0.signIn.phone = true } == [.methodEnabled(.phone)])
      #expect(weakenings { $0.signIn.emailLink = true } == [.methodEnabled(.emailLink)])
      #expect(weakenings { $0.signIn.password = false }.isEmpty)
      #expect(weakenings { $0.emailPrivacy = false } == [.emailEnumerationProtectionDisabled])
      #expect(try ofProject { $0.allowDuplicateEmails = true } == [.duplicateEmailsAllowed])
      #expect(
        try ofProject { $0.authorizedDomains.append("evil.example") }
          == [.domainAdded("evil.example")])
      #expect(try ofProject { $0.authorizedDomains = [] }.isEmpty)
      #expect(try ofProject { $0.importsTOTP = true } == [.totpImportAllowed])
      let numbers = #"{"+15551230002":"123456","+15551230001":"123456"}"#
      old.members = #"{"signIn":{"phoneNumber":{"testPhoneNumbers":{"+15551230001":"1"}}}}"#
      #expect(
        weakenings {
          $0.members = #"{"signIn":{"phoneNumber":{"testPhoneNumbers":\#(numbers)}}}"#
        } == [.testNumberAdded("+15551230001"), .testNumberAdded("+15551230002")])
      #expect(weakenings { $0.members = "{}" }.isEmpty)
      #expect(weakenings { $0.changesNeedFactor = false } == [.changesWithoutFactor])
      #expect(weakenings { $0.userPermissions.signUp = true } == [.signUpEnabled])
      #expect(weakenings { $0.passwords = nil } == [.weakerPasswords])
      func passwords(_ shortest: Int, _ classes: Set<PasswordPolicy.CharacterClass>)
        -> [SettingsWeakening]
      {
        weakenings {
          $0.passwords = PasswordPolicy(isEnforced: true, shortest: shortest, classes: classes)
        }
      }
      #expect(passwords(11, [.digit]) == [.weakerPasswords])
      #expect(passwords(12, []) == [.weakerPasswords])
      #expect(passwords(13, [.digit, .symbol]).isEmpty)
      old.passwords?.refusesCommon = true
      #expect(weakenings { $0.passwords?.refusesCommon = false } == [.weakerPasswords])
      var tenant = PoolEdit(displayName: "shop")
      let before = tenant
      tenant.emailPrivacy = false
      #expect(
        tenant.weakenings(since: before, usersHaveApps: false) == [
          .emailEnumerationProtectionDisabled
        ])
      #expect(before.weakenings(since: tenant, usersHaveApps: false).isEmpty)
      tenant.signIn.password = true
      #expect(
        tenant.weakenings(since: before, usersHaveApps: false).first == .methodEnabled(.password))
    }
  }
}

extension PolicyEdit {
  /// The weakenings in a pool whose users have no authenticator apps.
  func weakenings(since old: PolicyEdit) -> [PolicyWeakening] {
    weakenings(since: old, usersHaveApps: false)
  }

  func isWeaker(than old: PolicyEdit) -> Bool { !weakenings(since: old).isEmpty }
}
