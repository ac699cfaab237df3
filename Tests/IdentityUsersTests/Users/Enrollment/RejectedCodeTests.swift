import Database
import Identity
import OTP
import Testing

@testable import TestIdentity

/// The limit of the codes that enrollments reject, each of which is recorded.
struct RejectedCodeTests {
  private func recorded(_ instance: Instance) async throws -> Int {
    try await instance.database.read { connection in
      try connection.first("SELECT /* test */ count(*) FROM code_attempt") {
        try $0.next() as Int
      } ?? 0
    }
  }

  @Test
  func `at most 30 rejected codes an hour are recorded, however many enrollments are started`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      var outcomes: [String] = []
      for _ in 0..<100 {
        let start = try await instance.identity.enrollments.start(session)
        for _ in 0..<3 {
          outcomes.append(await outcome { try await instance.finish(start, session, steps: 40) })
        }
      }
      #expect(outcomes.tally == ["invalidCode": 30, "quotaExceeded": 270])
      #expect(try await recorded(instance) == 30)
      // Others aren't affected.
      _ = try await instance.account(.bob)
      _ = try await instance.enroll(try await instance.session(.bob).session)
      let refused = try await instance.identity.enrollments.start(session)
      let error = try await thrown(EnrollmentError.self) {
        try await instance.finish(refused, session)
      }
      guard case .quotaExceeded(let until) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(until == instance.now.advanced(bySeconds: 3_600))
      instance.clock.advance(3_600)
      _ = try await instance.enroll(try await instance.session(.alice).session)
    }
  }

  @Test func `codes of phones are limited in the same way, late ones included`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      _ = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let enrollments = instance.identity.enrollments
      var outcomes: [String] = []
      for _ in 0..<20 {
        let info = try await enrollments.startPhone(session, instance.request())
        for _ in 0..<5 {
          outcomes.append(
            await outcome {
              try await enrollments.finalizePhone(
                session, .code(sessionInfo: info, code: "000000"), displayName: nil,
                by: Instance.visitor)
            })
        }
      }
      #expect(outcomes.tally == ["invalidCode": 18, "tooManyAttempts": 12, "quotaExceeded": 70])
      #expect(try await recorded(instance) == 24)
      instance.clock.advance(3_600)
      _ = try await instance.enrollPhone(session)
    }
  }
}
