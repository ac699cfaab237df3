import HTTP
import OTP
import Testing

@testable import Console
@testable import Identity

/// The evidence for a window: its numbers, its words, and who sees what.
@Suite struct PolicyEvidenceTests {
  /// Exact arithmetic: 1 − (1 − codes / 10^6)^guesses as a percentage with three significant digits.
  private func exact(codes: Int, guesses: Int) -> String {
    let base = 1_000_000
    // The digits of (10^6 − codes)^guesses in base 10^6, the least significant first.
    var miss = [1]
    for _ in 0..<guesses {
      var carry = 0
      miss = miss.map { digit in
        let product = digit * (base - codes) + carry
        carry = product / base
        return product % base
      }
      miss.append(carry)
    }
    var hit: [Int] = []
    var borrow = 0
    for digit in miss.prefix(guesses) {
      let rest = -digit - borrow
      borrow = rest < 0 ? 1 : 0
      hit.append(rest < 0 ? rest + base : rest)
    }
    let digits = hit.reversed().flatMap { limb in
      let text = String(limb)
      return Array(String(repeating: "0", count: 6 - text.count) + text)
    }
    let first = digits.firstIndex { $0 != "0" } ?? 0
    var number = Int(String(digits[first..<first + 3])) ?? 0
    if let next = digits[first + 3].wholeNumberValue, next >= 5 { number += 1 }
    // The number has the value of `first + 3` decimal places, and two fewer as a percentage.
    var fraction = String(number)
    let places = first + 1
    while fraction.count < places { fraction = "0" + fraction }
    while fraction.last == "0" { fraction.removeLast() }
    return "0.\(fraction)%"
  }

  @Test(arguments: [
    (0, 5, "0.0005%"), (0, 10, "0.001%"), (0, 100, "0.01%"),
    (1, 5, "0.0015%"), (1, 10, "0.003%"), (1, 100, "0.03%"),
    (2, 5, "0.0025%"), (2, 10, "0.005%"), (2, 100, "0.05%"),
    (5, 5, "0.0055%"), (5, 10, "0.011%"), (5, 100, "0.11%"),
    (10, 5, "0.0105%"), (10, 10, "0.021%"), (10, 100, "0.21%"),
  ])
  func `the odds are exact to the digit`(intervals: Int, guesses: Int, words: String) throws {
    let window = try #require(Window(adjacentIntervals: intervals))
    let odds = GuessingOdds(window, cap: guesses)
    #expect(OddsText.inFile(odds.untilClosed * 100) + "%" == words)
    #expect(exact(codes: window.codes, guesses: guesses) == words)
  }

  @Test(arguments: [(0, "1.0"), (1, "3.0"), (2, "5.0"), (5, "11.0"), (10, "21.0")])
  func `the expected hits have one decimal`(intervals: Int, words: String) throws {
    let odds = GuessingOdds(try #require(Window(adjacentIntervals: intervals)), cap: 100)
    #expect(OddsText.hits(odds.expectedHits(in: 10_000)).english == words)
    #expect(OddsText.hits(0.01).english == "< 0.1" && OddsText.hits(0).english == "0.0")
    #expect(OddsText.hits(2_100).english == "2,100.0")
    #expect(OddsText.inFile(2_100) == "2100" && OddsText.inFile(0.01) == "0.01")
  }

  private func histogram(_ counts: [Int: (accepted: Int, confirmed: Int)]) -> OffsetHistogram {
    OffsetHistogram(
      days: 30, accepted: (-10...10).map { counts[$0]?.accepted ?? 0 },
      confirmed: (-10...10).map { counts[$0]?.confirmed ?? 0 },
      unconfirmed: (-10...10).map { $0 == 9 ? 41 : 0 },
      userDays: [900, 60, 30, 0, 0, 0, 0, 2, 0, 0, 0],
      users: [200, 40, 12, 1, 1, 1, 1, 1, 0, 0, 0])
  }

  @Test func `the finding of each window is a sentence with its base`() throws {
    let evidence = WindowEvidence(
      histogram([0: (900, 0), -1: (60, 0), -2: (0, 30), -7: (0, 2)]))
    let windows = try (0...10).map { try #require(Window(adjacentIntervals: $0)) }
    #expect(
      EvidenceText.finding(evidence, windows[1]).english
        == "Why ±1? It rejects 32 of 992 correct codes (3%)")
    #expect(
      EvidenceText.finding(evidence, windows[7]).english
        == "Why ±7? It accepts every correct code (992 codes)")
    let few = WindowEvidence(histogram([0: (29, 5)]))
    #expect(EvidenceText.finding(few, windows[1]).english == "Not enough data")
  }

  @Test func `the recommendation says whose sign-ins its share leaves out`() throws {
    var (smaller, line) = ("", "")
    func reasons(_ histogram: OffsetHistogram) throws -> String {
      let view = RecommendationView(
        outcome: WindowRecommendation.find(in: histogram), current: nil, cap: 10, goals: [],
        proposed: { _ in nil }, affected: { _ in nil })
      #expect(view.reasons.count == 3)
      line = view.line?.english ?? ""
      smaller = view.reasons[1].english
      return view.reasons[0].english
    }
    let all = try reasons(histogram([0: (900, 0), -1: (60, 0), -2: (0, 30), -7: (0, 2)]))
    #expect(
      all
        == "Ignoring the users whose clocks are farthest off (1; at most 1%, rounded up), it’s the smallest window that keeps at least 99.9% of legitimate sign-ins: 990 of 990 user-days (100%, 95% interval 99.61%–100%). A user-day is a user and a day with at least one correct code."
    )
    #expect(
      line == "±2 keeps at least 99.9% of sign-ins, not counting the clock that’s farthest off.")
    var few = histogram([0: (900, 0)])
    few = OffsetHistogram(
      days: 30, accepted: few.accepted, confirmed: few.confirmed, unconfirmed: few.unconfirmed,
      userDays: [900, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0], users: [200, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(try reasons(few).hasPrefix("It’s the smallest window that keeps at least 99.9%"))
    #expect(line == "±1 keeps at least 99.9% of sign-ins.")
    #expect(
      smaller == "±0 would keep 900 of 960 user-days (93.75%, 95% interval 92.03%–95.12%).")
  }

  @Test(arguments: [
    (0, "0%"), (9_990, "99.9%"), (9_999, "99.99%"), (322, "3.22%"), (1_005, "10.05%"),
  ])
  func `shares are exact`(basisPoints: Int, words: String) {
    #expect(ShareText.percent(basisPoints: basisPoints).english == words)
    #expect(ShareText.percent(basisPoints, of: 10_000).english == words)
  }

  @Test func `an interval is rounded outward, and missing without a sample`() {
    #expect(ShareText.interval(0, of: 20)?.english == "0%–16.12%")
    #expect(ShareText.interval(81, of: 263)?.english == "25.52%–36.63%")
    #expect(ShareText.interval(0, of: 0) == nil)
    #expect(ShareText.estimate(0, of: 0).english == "–")
  }

  @Test func `the query of the evidence has a period and a goal`() {
    #expect(EvidenceQuery(Form()) == EvidenceQuery(days: 30, goal: nil))
    #expect(EvidenceQuery(["days": "7", "keep": "99.5"]).days == 7)
    #expect(EvidenceQuery(["keep": "99.5"]).goal?.basisPoints == 9_950)
    for wrong in ["0", "31", "-7", "x", "90 "] {
      #expect(EvidenceQuery(["days": wrong, "keep": wrong]) == EvidenceQuery())
    }
    for goal in SignInGoal.offered {
      let address = EvidenceQuery(days: 90, goal: goal).address(of: "/policy")
      #expect(address.hasPrefix("/policy?days=90&keep=99"))
    }
    #expect(EvidenceQuery().address(of: "/policy") == "/policy")
  }

  @Test(arguments: [
    ("99.9", 9_990), ("99,95", 9_995), ("99.05", 9_905), ("90", 9_000), ("100.0", 10_000),
  ])
  func `a percentage has at most two decimal places`(text: String, basisPoints: Int) {
    #expect(Percentage.basisPoints(text) == basisPoints)
    #expect(Percentage.basisPoints(Percentage.text(basisPoints)) == basisPoints)
  }

  @Test(arguments: ["", ".", "9.", ".9", "99.999", "1000", "-9", "+9", "9 ", "９９", "9.9.9", "9e1"])
  func `other text isn't a percentage`(text: String) {
    #expect(Percentage.basisPoints(text) == nil)
  }

  @Test func `the pool's goal applies unless another one is asked for`() throws {
    var rules = SupportRules()
    rules.signInGoal = 9_400
    let counts = histogram([0: (900, 0), -1: (60, 0), -2: (0, 30), -7: (0, 2)])
    let own = PolicyEvidence(counts, EvidenceQuery(), rules)
    #expect(own.goal.basisPoints == 9_400 && own.recommended?.window.adjacentIntervals == 1)
    let asked = PolicyEvidence(counts, EvidenceQuery(goal: .standard), rules)
    #expect(asked.poolGoal == own.goal && asked.recommended?.window.adjacentIntervals == 2)
  }

  /// The text of the variant for the selected values.
  private func selected(_ markup: [UInt8]) -> String {
    let text = String(decoding: markup, as: UTF8.self)
    let variant = text.split(separator: "<span class=\"variant ").first {
      $0.prefix { $0 != ">" }.hasSuffix(" shown\"")
    }
    var result = ""
    for piece in (variant ?? "").split(
      separator: "<span class=\"o ", omittingEmptySubsequences: false)
    {
      let body = piece.drop { $0 != ">" }.dropFirst()
      let parts = body.split(separator: "</span>", maxSplits: 1, omittingEmptySubsequences: false)
      if result.isEmpty {
        result += body
      } else {
        if piece.prefix(while: { $0 != ">" }).hasSuffix(" shown\"") { result += parts[0] }
        if parts.count > 1 { result += parts[1] }
      }
    }
    for (entity, sign) in [("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&"), ("</span>", "")] {
      result = result.replacing(entity, with: sign)
    }
    return result
  }

  @Test func `the calls follow every combination of the form's values`() async throws {
    try await World.withSampleData { world in
      let policy = try await world.policy
      let url = try #require(PublicURL(World.publicURL))
      for totp in ["on", "off"] {
        for sms in ["on", "off"] {
          for intervals in ["default", "0", "5", "10"] {
            var answers = PolicyAnswers(policy.edit)
            (answers.totp, answers.sms, answers.intervals) = (totp, sms, intervals)
            guard case .change(let request) = answers.read() else {
              Issue.record("\(answers)")
              continue
            }
            let configuration = request.applied(to: policy.edit).configuration
            let snippets = PolicySnippets(policy, answers, publicURL: url)
            #expect(
              selected(snippets.curl.bytes)
                == PolicyCurl.text(
                  policy.pool, configuration, over: policy.configuration, publicURL: url))
            #expect(
              selected(snippets.node.bytes)
                == PolicyNode.text(policy.pool, configuration, over: policy.configuration))
          }
        }
      }
    }
  }

  @Test func `5 that is set differs from 5 by default`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let explicit = try await browser.get(address)
      #expect(explicit.says("id=\"intervals-5\" value=\"5\" checked"))
      #expect(!explicit.says("value=\"default\" checked"))
      _ = try await browser.save(address, .policy(intervals: "default"))
      let unset = try await browser.get(address)
      #expect(unset.says("value=\"default\" checked"))
      #expect(!unset.says("value=\"5\" checked"))
    }
  }

  @Test func `a link reviews a window, and only a valid one`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy?change=intervals&intervals="
      let check = try await browser.get(address + "1")
      #expect(check.says("<h1>Review changes</h1>") && check.value(of: "intervals") == "1")
      #expect(try await browser.get(address + "11").says("<h1>MFA policy</h1>"))
      #expect(try await browser.get(address).says("<h1>MFA policy</h1>"))
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(try await iris.get(address + "1").says("You have read-only access"))
      let policy = try await world.eu + "/policy"
      let link = "/policy?change=intervals&amp;intervals=1\""
      let (isOffered, isOfferedToReaders) = (
        try await browser.get(policy).says(link), try await iris.get(policy).says(link)
      )
      #expect(isOffered && !isOfferedToReaders)
      #expect(try await world.policy.version == 2)
    }
  }

  @Test func `choosing a period of evidence keeps the values typed`() async throws {
    try await World.withSampleData { world in
      let address = try await world.eu + "/policy"
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let form = try await tomas.get(address)
      #expect(form.values(of: "formaction").contains(address + "/edit?days=7"))
      // Enter reviews the change; the buttons for periods come after it.
      let first = form.text.split(separator: "action=\"\(address)\"").last?
        .firstRange(of: "<button")
      let isReview = first.map {
        form.text[$0.lowerBound...].hasPrefix("<button hidden>Review changes")
      }
      #expect(isReview == true)
      let typed = Form.policy(intervals: "3", sms: "on", pattern: "step-up")
      let page = try await tomas.submit(address, typed, to: address + "/edit?days=7")
      #expect(page.status == .ok && page.says("edit?days=7\" aria-current=\"true\">7 days"))
      #expect(page.says("id=\"sms\" name=\"sms\" value=\"on\" checked"))
      #expect(page.says("value=\"step-up\" selected"))
      #expect(try await world.policy.version == 2)
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(try await iris.get(address).values(of: "href").contains(address + "?days=7"))
    }
  }

  @Test func `administrators who can't see users see only numbers`() async throws {
    try await World.withSampleData { world in
      let address = try await world.eu + "/policy"
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get(address + "/affected?beyond=1").status == .forbidden)
      let evidence = try await tomas.get(address + "/evidence.csv")
      #expect(evidence.status == .ok && evidence.says("Share, lower end of its 95% interval"))
      #expect(try await tomas.get(address + "/offsets.csv?days=7").status == .ok)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let list = try await nadia.get(address + "/affected?beyond=1&days=90")
      #expect(list.status == .ok && list.says("Users with correct codes outside ±1"))
      #expect(!list.says("affected.csv"))
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get(address + "/affected").says("affected.csv"))
      let file = try await ada.download(address + "/affected.csv?beyond=1")
      #expect(file.text.contains("Largest distance"))
    }
  }

  @Test func `the effective state says what “mandatory” means`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world, as: World.iris)
      let address = try await world.eu + "/policy"
      #expect(try await browser.get(address).says("your app must block them") == false)
      _ = try await world.identity.policies.change(
        try await world.euPool, by: .program(Author(actor: .commandLine))
      ) { $0.pattern = .mandatory }
      let page = try await browser.get(address)
      #expect(page.says("Enrollment: <span class=\"chip warn\">your app</span>"))
      #expect(page.says("Users without a factor still get tokens; your app must block them."))
      #expect(page.says("Codes: <span class=\"chip on\">server</span>"))
    }
  }
}
