import JSON
import Testing
import Text

@testable import IdentityToolkitClient

/// Every recorded response is read, whatever the order of its members and the precision of its times.
struct RecordingTests {
  private static func recordings() throws -> [Recording] { try Recording.all.get() }

  @Test func `there are 255 recordings, of every kind`() throws {
    let all = try Self.recordings()
    #expect(all.count == 255)
    #expect(Set(all.map(\.id)).count == all.count)
    #expect(all.count { $0.status != 200 } == 81)
  }

  @Test func `every response becomes a value or a fault`() async throws {
    var read = (values: 0, faults: 0)
    for recording in try Self.recordings() where recording.path.hasPrefix("/") {
      let remote = ScriptedRemote(googleWith: { _ in recording.answer })
      let client = try google(remote, access: .policy)
      let call = RemoteCall(path: recording.path, needs: .policy, permission: "some.permission")
      let fault = await thrown { _ = try await client.send(call, for: .person) }
      #expect((fault == nil) == (recording.status == 200), "\(recording.id)")
      guard let fault else {
        read.values += 1
        continue
      }
      read.faults += 1
      let expected = Self.cause(of: recording)
      #expect(fault.cause == expected, "\(recording.id)")
      // Google's words are kept.
      let words = recording.response["error"]?.filled("message")
      #expect(fault.detail == words.map { String($0.prefix(500)) }, "\(recording.id)")
    }
    #expect(read.values == 174 && read.faults == 73)
  }

  /// The causes of the errors that Countersign knows; others have their code.
  private static func cause(of recording: Recording) -> RemoteFault.Cause {
    let message = recording.response["error"]?.filled("message") ?? ""
    let code = String(message.prefix { $0 != " " })
    return switch (recording.id, code) {
    case ("error/user-project-denied", _): .quotaProject
    case ("error/permission-denied", _), (_, "INSUFFICIENT_PERMISSION"):
      .permissionMissing("some.permission")
    case ("error/invalid-credential", _): .unauthorized
    case (_, "CONFIGURATION_NOT_FOUND"): .neverSetUp
    case (_, "INVALID_PROJECT_ID"): .tenantsOff
    case (_, "TENANT_DISABLED"): .tenantDisabled
    case (_, "INVALID_TENANT_ID"), (_, "TENANT_NOT_FOUND"): .tenantGone
    case (_, "Invalid"): .other("HTTP \(recording.status)")
    default: .other(code)
    }
  }

  // MARK: - Users

  private static func users() throws -> [JSON] {
    try recordings().flatMap { recording in
      ["users", "userInfo"].flatMap { recording.response[$0]?.arrayValue ?? [] }
    }
  }

  @Test func `every user is read, in any order of members`() throws {
    let users = try Self.users()
    #expect(users.count > 60)
    var random = SystemRandomNumberGenerator()
    for user in users {
      for variant in [user, user.shuffled(&random), user.shuffled(&random).with("new", ["a": [1]])]
      {
        let read = RemoteUser(variant)
        #expect(read.id == user.filled("localId"))
        #expect(
          read.email == user.filled("email") && read.phoneNumber == user.filled("phoneNumber"))
        #expect(read.isDisabled == (user["disabled"] == true))
        #expect(read.isEmailVerified == (user["emailVerified"] == true))
        #expect(read.createdAt == 1_790_164_342_579)
        #expect(read.validSince == user.filled("validSince").flatMap { Int64($0) })
        #expect(read.lastLoginAt == (user["lastLoginAt"] == nil ? nil : read.createdAt))
        #expect(read.passwordUpdatedAt == (user["passwordUpdatedAt"] == nil ? nil : read.createdAt))
        let providers = user["providerUserInfo"]?.arrayValue ?? []
        #expect(read.providers.map(\.id) == providers.map { $0.filled("providerId") ?? "" })
        #expect(read.providers.map(\.rawID) == providers.map { $0.filled("rawId") })
        let factors = user["mfaInfo"]?.arrayValue ?? []
        #expect(read.factors.map(\.id) == factors.map { $0.filled("mfaEnrollmentId") ?? "" })
        #expect(read.factors.map(\.displayName) == factors.map { $0.filled("displayName") })
        #expect(
          read.factors.map(\.kind)
            == factors.map { $0.filled("phoneInfo").map(RemoteFactor.Kind.phone) ?? .totp })
        #expect(read.factors.map(\.enrolledAt) == factors.map { $0.filled("enrolledAt") })
      }
    }
  }

  @Test func `a user without any one member is read, and the others stay`() throws {
    let user = try #require(try Self.users().first { $0["mfaInfo"] != nil })
    let whole = RemoteUser(user)
    for name in user.objectValue?.names ?? [] {
      var object = try #require(user.objectValue)
      object[name] = nil
      let read = RemoteUser(.object(object))
      #expect(read.id == (name == "localId" ? "" : whole.id))
      #expect(read.email == (name == "email" ? nil : whole.email))
      #expect(read.createdAt == (name == "createdAt" ? nil : whole.createdAt))
      #expect(read.factors.count == (name == "mfaInfo" ? 0 : whole.factors.count))
    }
    #expect(RemoteUser([:]).id.isEmpty && RemoteUser([]).providers.isEmpty)
  }

  @Test(
    arguments: [
      ["localId": 7, "email": ["a"], "disabled": "yes", "mfaInfo": "x", "createdAt": "soon"],
      ["localId": nil, "mfaInfo": [7, [], ["totpInfo": true]], "providerUserInfo": [nil]],
      ["createdAt": "9223372036854775808", "validSince": "1.5"],
    ] as [JSON])
  func `members of another type are ignored`(user: JSON) {
    let read = RemoteUser(user)
    #expect(read.id.isEmpty && read.email == nil && !read.isDisabled)
    #expect(read.createdAt == nil && read.validSince == nil)
    #expect(read.factors.allSatisfy { $0.kind == .other && $0.id.isEmpty })
  }

  @Test(
    arguments: [
      (1_790_164_342_579, 1_790_164_342_579), ("1790164342579", 1_790_164_342_579), ("0", 0),
      ("-1", -1), ("1.5", nil), ("", nil), (true, nil), (nil, nil), ([1], nil),
      ("9223372036854775808", nil), ("000000000000000000001", nil),
    ] as [(JSON, Int64?)])
  func `an integer is a number or a string`(value: JSON, integer: Int64?) {
    #expect(value.integer == integer)
  }

  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 06 Nux 1994 08:49:37 GMT", nil), ("", nil),
    ] as [(String, Int64?)])
  func `the date of a response is read`(text: String, time: Int64?) {
    #expect(RemoteResponse.seconds(of: text) == time)
  }
}

extension JSON {
  /// Returns the value with the members of every object in another order.
  fileprivate func shuffled(_ random: inout some RandomNumberGenerator) -> JSON {
    switch self {
    case .array(let elements): return .array(elements.map { $0.shuffled(&random) })
    case .object(let object):
      let members = object.members.shuffled(using: &random)
      return .object(JSON.Object(members.map { ($0.name, $0.value.shuffled(&random)) }))
    default: return self
    }
  }

  fileprivate func with(_ name: String, _ value: JSON) -> JSON {
    guard case .object(var object) = self else { return self }
    object[name] = value
    return .object(object)
  }
}
