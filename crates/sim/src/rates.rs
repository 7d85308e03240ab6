//! Values for reads and for writes, where a key may give one for both or each apart.

use iosonde_model::{Op, units::BytesPerSecond};
use serde::{Deserialize, Deserializer, de};
use std::{
    fmt::{self, Display},
    marker::PhantomData,
    str::FromStr,
};

/// A value for each direction: `key = "5GB/s"`, or `key = { read = "5GB/s", write = "3GB/s" }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub(crate) struct ReadWrite<T> {
    read: T,
    write: T,
}

/// Bytes a second, each way.
pub(crate) type Rates = ReadWrite<BytesPerSecond>;

impl<T: Copy> ReadWrite<T> {
    /// That of an operation's direction.
    pub(crate) fn of(self, op: Op) -> T {
        if op == Op::Read { self.read } else { self.write }
    }
}

impl Rates {
    /// Returns true if one of them is nothing.
    pub(crate) fn has_zero(self) -> bool {
        self.read.0 == 0 || self.write.0 == 0
    }
}

impl<'de, T: Deserialize<'de> + FromStr<Err: Display> + Copy> Deserialize<'de> for ReadWrite<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrTwo(PhantomData))
    }
}

struct OneOrTwo<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + FromStr<Err: Display> + Copy> de::Visitor<'de> for OneOrTwo<T> {
    type Value = ReadWrite<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("one value with its unit, or { read = \"..\", write = \"..\" }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ReadWrite<T>, E> {
        let both = text.parse().map_err(E::custom)?;
        Ok(ReadWrite { read: both, write: both })
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<ReadWrite<T>, A::Error> {
        ReadWrite::deserialize(de::value::MapAccessDeserializer::new(map))
    }
}

/// A value that both directions share, or one for each: `key = 3000`, or `key = { read = 3000, write = 1500 }`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SharedOrEach<T> {
    Shared(T),
    Each(ReadWrite<T>),
}

impl<T: Copy> SharedOrEach<T> {
    /// What holds for an operation's direction.
    pub(crate) fn of(self, op: Op) -> T {
        match self {
            Self::Shared(value) => value,
            Self::Each(each) => each.of(op),
        }
    }

    pub(crate) fn map<U>(self, change: impl Fn(T) -> U) -> SharedOrEach<U> {
        match self {
            Self::Shared(value) => SharedOrEach::Shared(change(value)),
            Self::Each(ReadWrite { read, write }) => {
                SharedOrEach::Each(ReadWrite { read: change(read), write: change(write) })
            }
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SharedOrEach<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SharedOrTwo(PhantomData))
    }
}

struct SharedOrTwo<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for SharedOrTwo<T> {
    type Value = SharedOrEach<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("one value for both directions, or { read = .., write = .. }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(de::value::StrDeserializer::new(text)).map(SharedOrEach::Shared)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        T::deserialize(de::value::I64Deserializer::new(value)).map(SharedOrEach::Shared)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        ReadWrite::deserialize(de::value::MapAccessDeserializer::new(map)).map(SharedOrEach::Each)
    }
}
