import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct InstanceValueTests {
  @Test func `a value is stored, replaced, read as a number, and deleted`() async throws {
    try await withInstance { instance in
      let value = InstanceValue("test_value")
      try await instance.database.write { connection in
        #expect(try value.read(connection) == nil)
        try value.store("first", connection)
        try value.store("12", connection)
        #expect(try value.read(connection) == "12")
        #expect(try value.readNumber(connection) == 12)
        try value.store("a", connection)
        #expect(try value.readNumber(connection) == nil)
        try value.store(nil, connection)
        #expect(try value.read(connection) == nil)
      }
    }
  }
}
