import Identity
import OTP
import Testing

struct ConfigurationTests {
  @Test(
    arguments: [
      (nil, 5), (0, 0), (1, 1), (5, 5), (10, 10),
    ] as [(Int?, Int)])
  func `the window is the number of adjacent intervals, five by default`(given: Int?, window: Int) {
    let totp = TOTPConfiguration(state: .enabled, adjacentIntervals: given)
    #expect(MFAConfiguration(totp: totp).window.adjacentIntervals == window)
    #expect(MFAConfiguration(totp: nil).window.adjacentIntervals == 5)
  }

  @Test(
    arguments: [
      (.unspecified, true), (.enabled, true), (.mandatory, true), (.disabled, false),
    ] as [(MFAState, Bool)])
  func `a TOTP entry is on unless its state is disabled`(state: MFAState, isOn: Bool) {
    let totp = TOTPConfiguration(state: state, adjacentIntervals: 5)
    #expect(MFAConfiguration(totp: totp).isTOTPOn == isOn)
    #expect(MFAConfiguration(state: .disabled, totp: totp).isTOTPOn == isOn)
  }

  @Test func `without a TOTP entry, TOTP is off, whatever the top-level state`() {
    for state in [nil, .unspecified, .disabled, .enabled, .mandatory] as [MFAState?] {
      #expect(!MFAConfiguration(state: state, smsEnabled: true).isTOTPOn)
    }
  }

  @Test func `every difference between two policies is described`() {
    let states: [MFAState?] = [nil, .unspecified, .disabled, .enabled, .mandatory]
    let entries: [TOTPConfiguration?] =
      [nil]
      + states.compactMap { $0 }.flatMap { state in
        [nil, 0, 5].map { TOTPConfiguration(state: state, adjacentIntervals: $0) }
      }
    let patterns: [EnrollmentPattern?] = [nil] + EnrollmentPattern.allCases
    var edits: [PolicyEdit] = []
    for state in states {
      for entry in entries {
        for (pattern, sms) in zip(patterns, [true, false, true, false, true]) {
          edits.append(
            PolicyEdit(
              configuration: MFAConfiguration(state: state, smsEnabled: sms, totp: entry),
              pattern: pattern))
        }
      }
    }
    for (index, left) in edits.enumerated() {
      for right in edits[index...] {
        #expect((left == right) == PolicyChange.between(left, right).isEmpty)
      }
    }
  }
}
