import Crypto
@testable import Identity
import JSON
import Testing
import Text

@testable import TestIdentity

struct EvidenceTests {
  private func file(_ instance: Instance) async throws -> [UInt8] {
    let iris = try await instance.agent("iris", role: .auditor)
    let reviews = instance.identity.reviews
    return try await reviews.file(
      try await reviews.evidence(of: instance.acme.project, for: iris.administrator))
  }

  @Test func `a file verifies with its key, however its white space is laid out`() async throws {
    try await withInstance { instance in
      let bytes = try await file(instance)
      let key = try await instance.identity.evidenceKeys.current().publicKey
      guard case .valid(let project, _) = EvidenceFile.verify(bytes, with: [key]) else {
        Issue.record("not valid")
        return
      }
      #expect(project == instance.acme.project.text)
      let spaced = String(decoding: bytes, as: UTF8.self)
        .replacing(#","policySetDigest""#, with: ",\n  \"policySetDigest\"")
      #expect(spaced.utf8.count > bytes.count)
      #expect(EvidenceFile.verify(Array(spaced.utf8), with: [key]) != .altered)
    }
  }

  @Test func `every changed value is noticed`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(2)
      let text = String(decoding: try await file(instance), as: UTF8.self)
      let key = try await instance.identity.evidenceKeys.current().publicKey
      let changes = [
        (#""adjacentIntervals":2"#, #""adjacentIntervals":1"#),
        (#""version":2"#, #""version":3"#), (#""gatheredBy":"iris""#, #""gatheredBy":"ada""#),
        (#""exemptUsers":0"#, #""exemptUsers":1"#), (#""signOffs":[]"#, #""signOffs":[1]"#),
      ]
      for (old, new) in changes {
        let altered = text.replacing(old, with: new)
        #expect(altered != text, "\(old)")
        #expect(EvidenceFile.verify(Array(altered.utf8), with: [key]) == .altered, "\(old)")
      }
    }
  }

  @Test func `intervals that a connected pool's server doesn't tell are in it as such`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp = TOTPConfiguration(state: .enabled, intervals: .unsaid)
      }
      _ = try await instance.connected(instance.acme)
      let json = try JSON.parse(try await file(instance))
      let set = try #require(json["evidence"]?["policySet"]?["pools"]?.arrayValue?.first)
      #expect(set["adjacentIntervals"] == "0 or default")
      let own = try #require(json["evidence"]?["pools"]?.arrayValue?.first?["inForce"])
      #expect(own["adjacentIntervals"] == "0 or default" && own["acceptedCodes"]?.isNull == true)
    }
  }

  @Test func `a file of another key names that key, and other files aren't evidence`()
    async throws
  {
    try await withInstance { instance in
      let bytes = try await file(instance)
      let keys = instance.identity.evidenceKeys
      let first = try await keys.current()
      let second = try await keys.rotate(by: Instance.boss)
      #expect(EvidenceFile.verify(bytes, with: [second.publicKey]) == .wrongKey(first.id))
      for text in ["", "{}", "[]", #"{"evidence":{},"signature":{}}"#, "%PDF"] {
        #expect(EvidenceFile.verify(Array(text.utf8), with: [first.publicKey]) == .notEvidence)
      }
      let text = String(decoding: bytes, as: UTF8.self).replacing(first.id, with: second.id)
      #expect(EvidenceFile.verify(Array(text.utf8), with: [second.publicKey]) == .altered)
    }
  }

  @Test func `a file isn't evidence if its key isn't a fingerprint`() async throws {
    try await withInstance { instance in
      let text = String(decoding: try await file(instance), as: UTF8.self)
      let key = try await instance.identity.evidenceKeys.current()
      for name in ["\\u001B[2K", "", "00", key.id.uppercased(), key.id + "00"] {
        let renamed = text.replacing(#""key":"\#(key.id)""#, with: #""key":"\#(name)""#)
        #expect(renamed != text)
        #expect(EvidenceFile.verify(Array(renamed.utf8), with: [key.publicKey]) == .notEvidence)
      }
    }
  }

  @Test func `nothing may be added beside what's signed`() async throws {
    try await withInstance { instance in
      let text = String(decoding: try await file(instance), as: UTF8.self)
      let key = try await instance.identity.evidenceKeys.current().publicKey
      for (old, new) in [
        (#""algorithm":"#, #""approved":"by the board","algorithm":"#),
        (#""signature":"#, #""approved":"by the board","signature":"#),
      ] {
        let extended = text.replacing(old, with: new)
        #expect(extended != text)
        #expect(EvidenceFile.verify(Array(extended.utf8), with: [key]) == .notEvidence)
      }
    }
  }

  @Test func `a file verifies with the key that it names, whatever the order of the keys`()
    async throws
  {
    try await withInstance { instance in
      let bytes = try await file(instance)
      let keys = instance.identity.evidenceKeys
      let first = try await keys.current().publicKey
      let second = try await keys.rotate(by: Instance.boss).publicKey
      for order in [[first, second], [second, first]] {
        guard case .valid = EvidenceFile.verify(bytes, with: order) else {
          Issue.record("not valid")
          return
        }
      }
    }
  }

  @Test func `a replaced key is retired but stays published, and its files stay valid`()
    async throws
  {
    try await withInstance { instance in
      let keys = instance.identity.evidenceKeys
      let bytes = try await file(instance)
      let first = try await keys.current()
      instance.clock.advance(60)
      let second = try await keys.rotate(by: Instance.boss)
      let list = try await keys.list()
      #expect(list.map(\.id) == [second.id, first.id])
      #expect(list.map(\.retiredAt) == [nil, instance.now])
      #expect(try await keys.current().id == second.id)
      guard case .valid = EvidenceFile.verify(bytes, with: [list[1].publicKey]) else {
        Issue.record("the old file isn't valid")
        return
      }
    }
  }

  @Test func `evidence has policies, figures, exemptions, and sign-offs`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      let bob = try await instance.account(.bob, in: instance.east)
      let olga = try await instance.agent("olga", role: .owner)
      _ = try await instance.identity.exemptions.grant(
        instance.east, bob.id, until: instance.now.advanced(bySeconds: 86_400),
        olga.request(.other, note: "Key on order"))
      let reviews = instance.identity.reviews
      let digest = try await reviews.summary(of: instance.acme.project).seen.digest
      _ = try await reviews.signOff(
        instance.acme.project, seen: digest, dueOn: Day(instance.now).next,
        olga.request(nil, note: "All good"))
      let evidence = try #require(try JSON.parse(try await file(instance))["evidence"])
      #expect(evidence["policySetDigest"]?.textValue?.text == digest)
      let set = try #require(evidence["policySet"])
      #expect(Hex.encode(HashFunction.sha256.digest(set.serialized())) == digest)
      let pools = try #require(evidence["pools"]?.arrayValue)
      #expect(pools.first?["enrolledUsers"] == 1)
      #expect(pools.contains { $0["exemptUsers"] == 1 })
      let exemption = evidence["exemptions"]?.arrayValue?.first
      #expect(exemption?["note"] == "Key on order" && exemption?["grantedBy"] == "olga")
      let signOff = evidence["signOffs"]?.arrayValue?.first
      #expect(signOff?["note"] == "All good" && signOff?["isOfCurrentPolicies"] == true)
    }
  }

  @Test func `evidence has every sign-off, however many`() async throws {
    try await withInstance { instance in
      let olga = try await instance.agent("olga", role: .owner)
      let reviews = instance.identity.reviews
      let digest = try await reviews.summary(of: instance.acme.project).seen.digest
      for number in 1...21 {
        _ = try await reviews.signOff(
          instance.acme.project, seen: digest, dueOn: Day(instance.now).next,
          olga.request(nil, note: "Review \(number)"))
      }
      let evidence = try #require(try JSON.parse(try await file(instance))["evidence"])
      let signOffs = try #require(evidence["signOffs"]?.arrayValue)
      #expect(signOffs.count == 21 && signOffs.last?["note"] == "Review 1")
    }
  }
}
