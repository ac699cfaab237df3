import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct SMSLimitsTests {
  private let limits = SMSLimits(perPool: 4, perRegion: 2)

  /// Returns, for each number, whether a message may be sent to it.
  private func charge(
    _ numbers: [String], isOpen: Bool = false, in pool: Pool, _ instance: Instance
  ) async throws -> [Bool] {
    let (limits, now) = (limits, instance.now)
    let requests = numbers.map { instance.request($0) }
    return try await instance.database.write { connection in
      try requests.map {
        try limits.charge($0, isOpen: isOpen, in: pool, at: now, connection) == nil
      }
    }
  }

  @Test func `a region and a pool have daily limits of their own`() async throws {
    try await withInstance { instance in
      let german = try await charge(
        ["+493011", "+493012", "+493013"], in: instance.acme, instance)
      #expect(german == [true, true, false])
      let others = try await charge(
        ["+33111", "+1202555", "+33112"], in: instance.acme, instance)
      #expect(others == [true, true, false])
      let tenant = try await charge(["+493014"], in: instance.east, instance)
      #expect(tenant == [true])
    }
  }

  @Test func `a new day begins at midnight in UTC`() async throws {
    try await withInstance { instance in
      _ = try await charge(["+493011", "+493012"], in: instance.acme, instance)
      let (limits, now, acme) = (limits, instance.now, instance.acme)
      let request = instance.request("+493013")
      let until = try await instance.database.write { connection in
        try limits.charge(request, isOpen: false, in: acme, at: now, connection)
      }
      let next = Instant(seconds: (now.day + 1) * 86_400)
      #expect(until == next)
      instance.clock.advance(next.seconds - now.seconds)
      #expect(try await charge(["+493013"], in: instance.acme, instance) == [true])
    }
  }

  @Test func `a reached limit is found, and old counts are deleted`() async throws {
    try await withInstance { instance in
      let (limits, now, acme) = (limits, instance.now, instance.acme)
      _ = try await charge(["+493011"], in: instance.acme, instance)
      let before = try await instance.database.read { connection in
        try limits.reached(in: acme, at: now, connection)
      }
      _ = try await charge(["+493012"], in: instance.acme, instance)
      let after = try await instance.database.read { connection in
        try limits.reached(in: acme, at: now, connection)
      }
      #expect(before == nil && after == 2)
      let left = try await instance.database.write { connection in
        _ = try SMSLimits.purgeExpired(at: now.advanced(bySeconds: 2 * 86_400), connection)
        return try connection.first("SELECT /* test */ count(*) FROM sms_count") {
          try $0.next() as Int
        }
      }
      #expect(left == 0)
    }
  }

  @Test func `half of each limit is reserved for sessions and first factors`() async throws {
    try await withInstance { instance in
      // Two of four messages of the pool, and one of two of the region.
      let numbers = ["+493011", "+493012", "+33111", "+1202555"]
      let networks = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"] as [ClientAddress]
      var open: [Bool] = []
      for (number, network) in zip(numbers, networks) {
        let sent = try await send(1, number, from: network, of: limits, instance)
        open.append(sent == 1)
        instance.clock.advance(3_600)
      }
      #expect(open == [true, false, true, false])
      #expect(try await charge(["+493013"], in: instance.acme, instance) == [true])
    }
  }

  @Test func `anyone's messages get a tenth of their half in an hour`() async throws {
    try await withInstance { instance in
      let limits = SMSLimits(perPool: 400, perRegion: 40)
      func open(from network: ClientAddress) async throws -> Int {
        try await send(1, from: network, of: limits, instance)
          + send(1, from: "192.0.2.200", of: limits, instance)
          + send(1, from: "192.0.2.201", of: limits, instance)
      }
      var sent = [try await open(from: "192.0.2.1")]
      sent.append(try await send(30, of: limits, instance))
      instance.clock.advance(3_600)
      sent.append(try await open(from: "192.0.2.2"))
      sent.append(try await send(10, of: limits, instance))
      #expect(sent == [2, 30, 2, 6])
    }
  }

  @Test func `a network gets an eighth of what anyone may request in a day`() async throws {
    try await withInstance { instance in
      let (limits, region) = (SMSLimits(perPool: 400, perRegion: 160), 10)
      /// Requests as many messages as a network gets, an hour's part at a time.
      func open(_ network: ClientAddress, _ number: String = "+493011") async throws -> Int {
        var sent = 0
        for _ in 0..<2 {
          sent += try await send(8, number, from: network, of: limits, instance)
          instance.clock.advance(3_600)
        }
        return sent
      }
      // 10 of the 80 open messages of a region, and 25 of the 200 of the pool. Addresses of one network
      // share them, and another network has its own.
      #expect(try await open("2001:db8:1::1") == region)
      #expect(try await open("2001:db8:1::2") == 0)
      #expect(try await open("2001:db8:2::1") == region)
      #expect(try await open("2001:db8:1::1", "+33111") == region)
      #expect(try await open("2001:db8:1::1", "+1202555") == 5)
      // A session on the same network isn't limited by what others request there.
      let session = try await send(1, from: "2001:db8:1::1", isOpen: false, of: limits, instance)
      #expect(session == 1)
      // The day ends at midnight, for the network's part, too.
      let midnight = (instance.now.day + 1) * 86_400
      instance.clock.advance(midnight - 1 - instance.now.seconds)
      #expect(try await send(1, from: "2001:db8:1::1", of: limits, instance) == 0)
      instance.clock.advance(1)
      #expect(try await open("2001:db8:1::1") == region)
    }
  }

  /// Returns how many of `count` messages to one number may be sent; without a network, in a session.
  private func send(
    _ count: Int, _ number: String = "+493011", from network: ClientAddress? = nil,
    isOpen: Bool? = nil, of limits: SMSLimits, _ instance: Instance
  ) async throws -> Int {
    let (acme, now, isOpen) = (instance.acme, instance.now, isOpen ?? (network != nil))
    let request = instance.request(number, from: network ?? "203.0.113.5")
    return try await instance.database.write { connection in
      try (0..<count).map { _ in
        try limits.charge(request, isOpen: isOpen, in: acme, at: now, connection) == nil
      }
    }.filter(\.self).count
  }
}
